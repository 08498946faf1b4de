/*
 * What lies where in dynamic shared memory, which has no names: a range that is stored in the interval in which K and V are
 * loaded by the same line is K's tile, then V's. What is computed there is named as the kernel's source declares it.
 */

/* "float *K_tile = shared, *V_tile = K_tile + ...": the names in their order, as "K tile", "V tile". */
function declaredTiles(run, file) {
	const text = (run.sources || {})[file] || '', names = [];
	for (const [, name, from] of text.matchAll(/\*\s*(\w+)\s*=\s*(\w+)(?=\s*[+,;])/g))
		if (names.includes(from) || (names.length === 0 && new RegExp(`extern\\s+__shared__[^;]*\\b${from}\\[`).test(text)))
			names.push(name);
	return names.map((name) => name.replace(/_/g, ' '));
}

/* Cuts ranges into `parts` of equally many bytes: [[first, end], ...], what each of them spans. */
function splitEvenly(ranges, parts) {
	const whole = ranges.reduce((sum, [first, end]) => sum + end - first, 0), spans = [];
	let filled = 0;
	for (const [first, end] of ranges)
		for (let at = first; at < end;) {
			const part = Math.min(Math.floor(filled * parts / whole), parts - 1);
			const take = Math.min(end - at, Math.max(1, Math.round((part + 1) * whole / parts) - filled));
			spans[part] = [Math.min(at, spans[part] ? spans[part][0] : at), at + take];
			filled += take;
			at += take;
		}
	return spans;
}

function widen(spans, name, [first, end]) {
	const known = spans.get(name);
	spans.set(name, known ? [Math.min(known[0], first), Math.max(known[1], end)] : [first, end]);
}

/* [{name, first, end}] of an array of shared memory, in the order of addresses; each is found once. */
function regionsIn(kernel, array) {
	kernel.regions = kernel.regions || {};
	return kernel.regions[array] = kernel.regions[array] || findRegions(kernel, array);
}

function findRegions(kernel, array) {
	if (array !== 'dynamic shared memory')
		return [];
	const spans = new Map(), computed = new Map();
	/* A tile is carried by one line; where no line carries one, by lines of one file. What else loads there is no tile. */
	const steps = kernel.groups.map((group) => ({
		stored: group.accesses.filter((access) => access.tensor === array && access.op === 'store'),
		loaded: group.accesses.filter((access) => access.space === 'global' && access.op === 'load')}));
	const carried = ({stored, loaded}, what) => {
		const places = new Set(stored.flatMap((access) => access.places.map(what)));
		return loaded.filter((access) => access.places.some((place) => places.has(what(place))));
	};
	const line = (place) => place, file = (place) => place.split(':')[0];
	const by = steps.some((step) => carried(step, line).length) ? line : file;
	for (const step of steps) {
		const {stored} = step, from = carried(step, by);
		if (stored.length === 0)
			continue;
		const ranges = stored.flatMap((access) => access.ranges).sort((a, b) => a[0] - b[0]);
		if (from.length)
			splitEvenly(ranges, from.length).forEach((span, i) => widen(spans, `${from[i].tensor} tile`, span));
		else
			ranges.forEach((span) => widen(computed, 'computed', span));
	}
	const list = [...spans].map(([name, [first, end]]) => ({name, first, end}));
	for (const [name, [first, end]] of computed)
		if (!list.some((region) => first < region.end && end > region.first))
			list.push({name, first, end});
	list.sort((a, b) => a.first - b.first);
	if (list.some((region, i) => i > 0 && region.first < list[i - 1].end))
		return []; /* they overlap: a room used twice, which has no one name */
	const declared = declaredTiles(kernel.run, kernel.launches[0].file);
	return list.map((region, i) => declared.length >= list.length ? {...region, name: declared[i]} : region);
}

function regionAt(kernel, array, byte) {
	const found = kernel && regionsIn(kernel, array).find(({first, end}) => byte >= first && byte < end);
	return found ? found.name : '';
}
