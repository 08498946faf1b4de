/*
 * From the lines of SIM_TRACE to what a view steps through. A group is what one block does between two barriers; a
 * kernel is its groups in the order of the trace. Bytes are counted as asked for, atomics too.
 */

function sumsOf(group, space) {
	const sums = {load: 0, store: 0, atomic: 0};
	for (const access of group.accesses)
		if (access.space === space)
			sums[access.op] += access.bytes;
	return sums;
}

/* A line of the kernel's own file is a number; every place is a text, "FILE:LINE". */
function placeOf(file, line) {
	return (typeof line === 'number' ? `${file}:${line}` : line).split('/').pop();
}

function groupsOf(lines, launches) {
	const groups = [];
	let last = null, end = 0;
	for (const line of lines) {
		if (line.type || line.warp !== undefined || !launches.has(line.launch)) /* of a warp: SIM_TRACE_REQUESTS */
			continue;
		const block = line.block.join(',');
		if (!last || last.launch !== line.launch || last.block !== block || last.interval !== line.interval) {
			last = {launch: line.launch, kernel: line.kernel, block, interval: line.interval, accesses: [],
			        bytes: 0, header: launches.get(line.launch)};
			groups.push(last);
		}
		last.accesses.push({...line, places: line.lines.map((at) => placeOf(last.header.file, at))});
		if (line.space === 'global')
			last.bytes += line.bytes;
	}
	let read = 0, written = 0;
	for (const group of groups) {
		const sums = sumsOf(group, 'global');
		end += group.bytes;
		read += sums.load;
		written += sums.store + sums.atomic;
		Object.assign(group, {end, readEnd: read, writtenEnd: written});
	}
	return groups;
}

/* The tensor as rows and columns; a statistic stands upright beside the tensor whose rows it belongs to. */
function shapeOf(name, header, described) {
	const found = described.find((tensor) => tensor.name === name);
	const elements = header.bytes / 4;
	if (!found)
		return {name, rows: 1, columns: elements};
	const length = found.shape[found.shape.length - 1];
	return found.statistic ? {name, rows: elements, columns: 1, role: found.role}
	                       : {name, rows: elements / length, columns: length, role: found.role};
}

/* Every kernel of every run that has a trace; the list is made once. */
let traced = null;
function tracedKernels() {
	if (traced)
		return traced;
	const kernels = traced = [];
	for (const run of data.runs) {
		if (!run.trace)
			continue;
		const headers = new Map(run.trace.filter((line) => line.type === 'launch').map((line) => [line.launch, line]));
		run.kernels.forEach((described, index) => {
			const launches = new Map(described.launches.filter((n) => headers.has(n)).map((n) => [n, headers.get(n)]));
			const groups = groupsOf(run.trace, launches);
			if (groups.length === 0)
				return;
			const tensors = new Map(), shared = new Map();
			for (const header of launches.values())
				for (const tensor of header.tensors) {
					if (tensor.space === 'shared')
						shared.set(tensor.tensor, Math.max(tensor.bytes, shared.get(tensor.tensor) || 0));
					else if (!tensors.has(tensor.tensor))
						tensors.set(tensor.tensor, shapeOf(tensor.tensor, tensor, described.tensors));
				}
			const touched = new Set(groups.flatMap((group) => group.accesses.map((access) => access.tensor)));
			const order = described.tensors.map((tensor) => tensor.name);
			kernels.push({
				run, groups, name: described.name, summary: described.summary, result: run.result.kernels[index], described,
				label: (data.labels || {})[described.name] || described.name,
				launches: [...launches.values()],
				tensors: [...tensors.values()].filter((tensor) => touched.has(tensor.name))
					.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
				shared: [...shared].map(([name, size]) => ({name, bytes: size})).filter((array) => touched.has(array.name)),
				adds: groups.some((group) => group.accesses.some((access) => access.op === 'atomic')),
				total: groups[groups.length - 1].end,
			});
		});
	}
	return kernels;
}

/*
 * One clock for all: bytes of global memory. Every kernel has the same bandwidth, so a group ends when as many bytes have
 * moved as the kernel needed up to there. Returns the ends in order: [{kernel, group, at}], indices.
 */
function mergeClocks(kernels) {
	const events = [];
	kernels.forEach((kernel, k) => kernel.groups.forEach((group, g) => events.push({kernel: k, group: g, at: group.end})));
	return events.sort((a, b) => a.at - b.at || a.kernel - b.kernel || a.group - b.group);
}

/* A line as it stands in the file, or null. */
function sourceText(run, place) {
	const [file, line] = place.split(':');
	const text = (run.sources || {})[file];
	if (!text)
		return null;
	run.split = run.split || {};
	run.split[file] = run.split[file] || text.split('\n');
	return run.split[file][line - 1] ?? null;
}

function sourceLine(run, place) {
	const text = sourceText(run, place);
	return text === null ? null : text.trim();
}
