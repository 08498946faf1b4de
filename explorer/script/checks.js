/* This run: verdicts, where an output is wrong, counts against closed forms. */

function makeBadge(kernel) {
	const [kind, text] = kernel.skipped ? ['skipped', '\u2013 skipped']
		: kernel.verified ? ['right', '\u2713 verified'] : ['wrong', '\u2717 FAILED'];
	return element('span', {class: `badge ${kind}`}, text);
}

const aroundIt = 'Around it: above what came out, below what the double-precision reference says.';

function tellWrong(map, wrong, checked) {
	const first = middleOf(map, map.first), worst = middleOf(map, map.worst);
	const isOther = worst.name !== first.name;
	return [
		element('p', {}, element('b', {class: 'error'}, `${count(wrong)} of ${plural(checked, 'tile')} wrong. `),
			'The first, ringed: ', element('b', {}, tileName(map, map.first_wrong)), '.'),
		element('p', {}, element('code', {}, first.name), ` is ${figure(first.got, 7)}, expected ${figure(first.expected, 7)}.`),
		element('p', {class: 'dim small'}, aroundIt), makeWindow(map, map.first),
		isOther ? element('details', {}, element('summary', {},
			`The worst, ${worst.name}: ${figure(worst.got, 5)}, expected ${figure(worst.expected, 5)}`), makeWindow(map, map.worst)) : ''];
}

function tellRight(map, checked) {
	const worst = middleOf(map, map.worst);
	return [
		element('p', {}, `All ${plural(checked, 'tile')} right. `, element('span', {class: 'dim'},
			`Worst: ${worst.name} = ${figure(worst.got, 7)}, expected ${figure(worst.expected, 7)}; ` +
			`error ${figure(number(map.worst_error), 2)}, tolerance ${figure(number(map.worst_tolerance), 2)}.`)),
		element('details', {}, element('summary', {}, 'What stands around it'), element('p', {class: 'dim small'}, aroundIt),
			makeWindow(map, map.worst))];
}

function makeOutput(map, kernel) {
	map.kernel = kernel;
	const ratios = map.ratios.map(number), wrong = ratios.filter(isWrong).length;
	const checked = ratios.filter((ratio) => ratio !== -1).length;
	const shape = `[${map.shape.join(', ')}], tiles of ${map.tile_rows} \u00d7 ${map.tile_columns}`;
	return element('section', {'data-output': map.tensor, 'aria-label': `Output ${map.tensor} of ${kernel}`},
		element('h3', {}, `${map.tensor} `, element('span', {class: 'dim small'}, shape)),
		element('div', {class: 'output'}, makeHeat(map, ratios),
			element('div', {class: 'stack column'}, wrong ? tellWrong(map, wrong, checked) : tellRight(map, checked))));
}

function makeCounts(kernel, described) {
	const models = [kernel.model, kernel.model_requested, kernel.model_footprint].filter(Boolean);
	if (models.length === 0 || described.measured.length === 0)
		return '';
	const row = (model, i) => {
		const got = described.measured[i], counted = got.read_elements + got.write_elements, off = counted - model.elements;
		const equal = got.read_elements === model.read_elements && got.write_elements === model.write_elements;
		const says = equal ? '\u2713 equal' : off === 0 ? '\u2717 reads and writes differ'
			: `\u2717 ${count(Math.abs(off))} too ${off > 0 ? 'many' : 'few'}`;
		return element('tr', {'data-equal': String(equal)},
			element('td', {}, model.counts, ' ', element('code', {class: 'dim'}, model.formula)), element('td', {}, count(model.elements)),
			element('td', {}, count(counted)), element('td', {class: equal ? null : 'error'}, says));
	};
	const heads = ['elements of global memory', 'closed form', 'counted', 'verdict'].map((name) => element('th', {scope: 'col'}, name));
	return makeScroll(`Counts and closed forms of ${kernel.name}`, element('table', {}, element('thead', {}, element('tr', {}, heads)),
		element('tbody', {}, models.map(row))));
}

/* What a kernel asks for of each tensor, and how often of each element: where tiles save. */
function makeTensorTraffic(kernel, described) {
	const tensors = (kernel.hbm && kernel.hbm.tensors) || [];
	const sums = tensors.map(({name, requested, footprint}) => ({name, read: requested.read_bytes,
		written: requested.write_bytes + (requested.atomic_bytes || 0), once: Math.max(footprint.read_bytes, footprint.write_bytes)}));
	const most = Math.max(...sums.map(({read, written}) => read + written));
	if (!(most > 0))
		return '';
	const sizeOf = (name) => {
		const found = described.tensors.find((tensor) => tensor.name === name);
		return found ? 4 * found.shape.reduce((product, size) => product * size, 1) : 0;
	};
	const often = ({name, read, written, once}) => (once < sizeOf(name) ? `${count(once / 4)} of ${count(sizeOf(name) / 4)} elements ` : 'each element ') +
		[[read, 'read'], [written, 'written']].filter(([size]) => size > 0)
			.map(([size, word]) => `${word} ${size === once ? 'once' : `${figure(size / once, 3)} times`}`).join(', ');
	return element('section', {class: 'tensor-traffic', 'aria-label': `Bytes of each tensor of ${kernel.name}`},
		element('h3', {}, 'What it asks of global memory'),
		sums.map((sum) => element('div', {class: 'form-row', 'data-tensor': sum.name},
			element('span', {}, element('b', {}, sum.name), element('span', {class: 'dim small'}, ` ${often(sum)}`)),
			element('div', {class: 'bar', 'aria-hidden': 'true'}, element('i', {class: 'read', style: `width:${100 * sum.read / most}%`}),
				element('i', {class: 'written', style: `left:${100 * sum.read / most}%;width:${100 * sum.written / most}%`})),
			element('span', {class: 'bytes'}, bytes(sum.read + sum.written)))));
}

/* What the device counted of shared memory: {visits, lost, lines}; a line is {place, op, visits, lost}, those that lost most
 * first. From the launches' own records. */
function banksOf(run, described) {
	const names = new Set((run.trace || []).filter((line) => line.type === 'launch' && described.launches.includes(line.launch))
		.map((line) => line.kernel));
	const counted = (run.report || []).filter((record) => record.type === 'launch' && names.has(record.kernel))
		.flatMap((record) => record.shared_lines || []);
	const lines = new Map();
	for (const {file, line, op, wavefronts, conflicts} of counted) {
		const place = placeOf(file, line), key = `${place} ${op}`, sum = lines.get(key) || {path: file, line, place, op, visits: 0, lost: 0};
		lines.set(key, {...sum, visits: sum.visits + wavefronts, lost: sum.lost + conflicts});
	}
	const list = [...lines.values()].sort((a, b) => b.lost - a.lost);
	const total = (key) => list.reduce((all, one) => all + one[key], 0);
	return {visits: total('visits'), lost: total('lost'), lines: list};
}

const isSlow = ({visits, lost}) => lost > 0.25 * visits;

/* The lines that wait for banks, each with how often, in its source. */
function makeBankLines(run, {lost, lines}) {
	const waiting = lines.filter((line) => line.lost > 0), calm = lines.length - waiting.length, shown = 3;
	const words = {load: 'read', store: 'written', atomic: 'added to'};
	const one = (line) => element('li', {'data-place': line.place, 'data-lost': line.lost, 'data-visits': line.visits},
		element('p', {class: 'small'}, element('b', {}, `${line.place}: ${plural(line.lost, 'conflict')}`),
			` (${figure(100 * line.lost / lost, 3)} % of all). Shared memory is ${words[line.op]} here in ${plural(line.visits, 'visit')}; ` +
			`without conflicts ${count(line.visits - line.lost)} would do, ${figure(line.visits / (line.visits - line.lost), 3)} times fewer.`),
		makeSnippet(run, line.path, line.line));
	const rest = waiting.slice(shown);
	return element('div', {class: 'stack column'}, element('ul', {class: 'bank-lines'}, waiting.slice(0, shown).map(one)),
		rest.length ? element('details', {}, element('summary', {}, plural(rest.length, 'more line')), element('ul', {class: 'bank-lines'}, rest.map(one))) : '',
		calm ? element('p', {class: 'small dim'}, calm === 1 ? 'The other line that uses shared memory has no conflict.'
			: `The other ${count(calm)} lines that use shared memory have no conflict.`) : '');
}

function makeBanks(run, described) {
	const banks = banksOf(run, described), {visits, lost} = banks, worst = isSlow(banks);
	if (visits === 0)
		return '';
	return element('div', {class: 'stack column', 'data-conflicts': lost}, element('p', {class: worst ? 'error' : 'dim'},
		`Shared memory: ${plural(visits, 'visit')} to the banks, ` + (lost === 0 ? 'no bank conflict.' :
			`${count(lost)} of them (${figure(100 * lost / visits, 2)} %) only because of bank conflicts: lanes of one warp ask for different words of ` +
			'one bank and wait for each other.'),
		worst ? element('span', {class: 'dim plain'}, ' That makes no result wrong, only late. A row length that is a multiple of 32 floats puts ' +
			'a whole column into one bank: look at the strides of the tiles, and pad their rows: by 4 floats where they are read as float4.') : ''), worst ? makeBankLines(run, banks)
		: lost ? element('details', {}, element('summary', {}, 'Which lines'), makeBankLines(run, banks)) : '');
}

/* ---- the page ---- */

function makeKernelCard(run, kernel, described, replays) {
	const failure = kernel.failure ? element('p', {class: 'error'}, kernel.failure) : '';
	const isRight = described.maps.every((map) => map.first_wrong === undefined);
	const outputs = element('div', {class: `outputs${isRight ? ' calm' : ''}`}, described.maps.map((map) => makeOutput(map, kernel.name)));
	const isLuck = isRight && described.maps.length > 0 && run.hazards.some(({severity}) => severity === 'error');
	const banks = makeBanks(run, described), isLate = kernel.verified && isSlow(banksOf(run, described));
	const body = kernel.skipped ? element('p', {class: 'note'}, kernel.skipped)
		: element('div', {class: 'kernel-body'}, makeUnwritten(run, kernel, described), failure, isLuck ? element('p', {class: 'dim small luck'}, 'The numbers are right in this run. ' +
			'With the errors above they may be wrong in another.') : '', makeUnread(run, kernel, described), replays ? makeReplay(run, described, replays) : '',
			isLate ? banks : '', outputs, isLate ? '' : banks, makeTensorTraffic(kernel, described), makeCounts(kernel, described));
	return element('section', {class: 'card', 'data-kernel': kernel.name, 'aria-label': kernel.name},
		element('div', {class: 'kernel-head'}, element('h2', {}, kernel.name), makeBadge(kernel),
			element('span', {class: 'dim'}, described.summary, described.tile && !kernel.skipped
				? `; tiles of ${described.tile.join(' \u00d7 ')} (Br \u00d7 Bc)` : '')), body);
}

/* ": O, LSE of fa2_row are wrong": before anything is explained. */
function whatFailed(run, ran) {
	const wrong = ran.filter((kernel) => !kernel.verified).map((kernel) => {
		const names = (kernel.outputs || []).filter(({passed}) => !passed)
			.map((output) => output.tensor);
		const unwritten = run.kernels.find(({name}) => name === kernel.name).maps.flatMap((map) => map.unwritten || []);
		return unwritten.length ? `${kernel.name}: ${unwritten.join('; ')}` : names.length ? `${names.join(', ')} of ${kernel.name} ${names.length === 1 ? 'is' : 'are'} wrong`
			: `${kernel.name}: ${kernel.failure || 'its counts are not what they should be'}`;
	});
	return `: ${wrong.join('; ')}.`;
}

function makeVerdict(run) {
	const {result, hazards, kernels} = run;
	const late = kernels.filter((described) => isSlow(banksOf(run, described))).map(({name}) => name);
	const ran = result.kernels.filter((kernel) => !kernel.skipped), all = ran.length;
	const failed = ran.filter((kernel) => !kernel.verified).length;
	if (failed)
		return element('p', {class: 'error'}, all === 1 ? 'The kernel failed' : `${failed} of ${all} kernels failed`, whatFailed(run, ran));
	const who = {1: 'The kernel is', 2: 'Both kernels are'}[all] || `All ${all} kernels are`;
	return element('p', {}, element('b', {class: 'good'}, `${who} right: `), 'outputs within tolerance of the double-precision ' +
		`reference, counts equal to their closed forms${run.no_report ? '' : hazards.length ? ', the hazards below no errors' : ', no hazards'}.`,
	late.length ? element('b', {class: 'error'}, ` But ${late.join(' and ')} waits for the banks of shared memory: see below.`) : '');
}

/* The page of `make explorer` has several runs, all of them verified: it shows none of this. */
function makeChecksView() {
	if (data.runs.length !== 1)
		return null;
	const run = data.runs[0], {kernels} = run.result;
	const cards = kernels.map((kernel, i) => makeKernelCard(run, kernel, run.kernels[i], (run.replays || [])[i]));
	/* What is wrong comes first. */
	const order = kernels.map((_, i) => i).sort((a, b) => kernels[a].verified - kernels[b].verified || a - b);
	const noTraffic = run.no_trace || (tracedKernels().length === 0 ? 'No launch came to its end.' : '');
	const node = element('div', {class: 'stack', id: 'checks'}, makeVerdict(run), run.hazards.length ? makeHazards(run) : '',
		order.map((i) => cards[i]),
		noTraffic ? element('p', {class: 'note'}, `No picture of the memory traffic: ${noTraffic}`) : '',
		run.no_report ? element('p', {class: 'note'}, `No list of what the device found: ${run.no_report}`) : '',
		run.no_steps ? element('p', {class: 'note'}, `No steps of the online softmax: ${run.no_steps}`) : '');
	const nothing = () => {};
	return {id: 'checks', name: 'This run', node, keys: [], restore: nothing, key: nothing, stop: nothing, resized: nothing,
		themed: nothing};
}
