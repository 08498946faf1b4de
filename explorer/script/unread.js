/*
 * What a wrong kernel does not write, and keys that it does not read, found in what it asked of K and V: a dropped tail, a tile
 * that is passed over. A block that writes rows of O needs every key that these rows may see.
 */

/* Rows of a tensor of keys that these accesses load, as marks. */
function loadedRows(tensor, accesses) {
	const length = 4 * tensor.columns, rows = new Uint8Array(tensor.rows);
	for (const access of accesses)
		if (access.space === 'global' && access.tensor === tensor.name && access.op === 'load')
			for (const [first, end] of access.ranges)
				rows.fill(1, Math.floor(first / length), Math.ceil(end / length));
	return rows;
}

/* A tensor of keys lies as [B, H, N, d] or, where heads are strides, as [N, H, d]: {heads, at(head, key)}, a flat row. */
function keysOf(kernel, name) {
	const found = kernel.described.tensors.find((tensor) => tensor.name === name), shape = found ? found.shape : [];
	if (shape.length === 4)
		return {tensor: name, heads: shape[0] * shape[1], keys: shape[2], at: (head, key) => head * shape[2] + key};
	return shape.length === 3 ? {tensor: name, heads: shape[1], keys: shape[0], at: (head, key) => key * shape[1] + head} : null;
}

/* [first, end) of the keys below `needed` that are not marked: the first stretch of them, or null. */
function firstGap(marks, {at}, head, needed) {
	let first = 0;
	while (first < needed && marks[at(head, first)])
		first++;
	let end = first;
	while (end < needed && !marks[at(head, end)])
		end++;
	return first < needed ? [first, end] : null;
}

/* {tensors, gap, keys, block}: no block reads these keys of a head, or (`block`) one does not that writes rows which need them. */
function findUnread(kernel) {
	const {causal} = kernel.run.result.problem, places = ['K', 'V'].map((name) => keysOf(kernel, name)).filter(Boolean);
	const gaps = places.flatMap((place) => {
		const tensor = kernel.tensors.find(({name}) => name === place.tensor) || {name: place.tensor, rows: place.heads * place.keys, columns: 1};
		const marks = loadedRows(tensor, kernel.groups.flatMap((group) => group.accesses));
		for (let head = 0; head < place.heads; head++) {
			const gap = firstGap(marks, place, head, place.keys);
			if (gap)
				return [{tensors: [place.tensor], gap, keys: place.keys, head, heads: place.heads}];
		}
		return [];
	});
	if (gaps.length === 2 && String(gaps[0].gap) === String(gaps[1].gap))
		gaps[0].tensors = ['K', 'V'];
	if (gaps.length)
		return gaps[0];
	const place = keysOf(kernel, 'K'), O = kernel.tensors.find(({name}) => name === 'O'), K = kernel.tensors.find(({name}) => name === 'K');
	if (!place || !O || !K || O.rows !== K.rows || kernel.launches.length > 1)
		return null;
	for (const block of new Set(kernel.groups.map((group) => group.block))) {
		const accesses = kernel.groups.filter((group) => group.block === block).flatMap((group) => group.accesses);
		const written = accesses.filter((access) => access.tensor === 'O' && access.op === 'store').flatMap((access) => access.ranges);
		const last = Math.ceil(Math.max(0, ...written.map(([, end]) => end)) / (4 * O.columns)) - 1;
		const head = Math.floor(last / place.keys), needed = causal ? last % place.keys + 1 : place.keys;
		const gap = last >= 0 && firstGap(loadedRows(K, accesses), place, head, needed);
		if (gap)
			return {tensors: ['K'], gap, keys: place.keys, head, heads: place.heads, block, last: last % place.keys};
	}
	return null;
}

const keyRange = (first, end) => end - first === 1 ? `key ${first}` : `keys ${first}\u2013${end - 1}`;

/* "Keys 96–99 of K and V are never read: ..." */
function tellUnread({tensors, gap: [first, end], keys, head, heads, block, last}, tile) {
	const what = keyRange(first, end), whose = heads > 1 ? ` of head ${head}` : '', of = `${tensors.join(' and ')}${whose}`;
	const isTail = end === keys, number = Math.floor(first / tile);
	const which = end - first === keys ? 'not one key' : isTail && tile && first % tile === 0 && end - first < tile
		? `the tail, ${plural(end - first, 'key')} after the last whole tile of ${tile}`
		: tile && first % tile === 0 ? `from tile ${number} of ${tile} keys on` : `${plural(end - first, 'key')} of ${keys}`;
	const look = isTail ? 'Look at the end of the loop over tiles, and at the number of keys of the last one.'
		: 'Look at where the loop over tiles begins, and at its step.';
	if (block)
		return `Block ${block.replace(/,0,0$/, '')} writes O up to row ${last} and does not read ${what} of ${of}, which that row may see ` +
			`(${which}). Look at how far its loop over tiles goes.`;
	return end - first === keys ? `No key of ${of} is read at all, so l stays 0. ${look}`
		: `${what[0].toUpperCase()}${what.slice(1)} of ${of} ${end - first === 1 ? 'is' : 'are'} never read: ${which}. ${look}`;
}

/* What of the outputs nobody wrote, before all else: no number there was computed. '' where all was written. */
function makeUnwritten(run, kernel, described) {
	const unwritten = described.maps.flatMap((map) => map.unwritten || []);
	if (unwritten.length === 0)
		return '';
	const traced = tracedKernels().find((one) => one.run === run && one.described === described), unread = traced && findUnread(traced);
	const {tensors, gap: [first, end], keys, head} = unread || {gap: []}, noBlock = unread && end - first === keys && !unread.block;
	return element('div', {class: 'unwritten'}, unwritten.map((sentence) => element('p', {}, element('b', {}, `${sentence}.`))),
		element('p', {}, 'Memory is NaN before a run, and here it still is. ' + (noBlock
			? `No key of ${tensors.join(' and ')} of head ${head} is read, either: look at how a block finds its head, and at the grid.`
			: 'Look at the line that writes, at its condition and its index, and at the grid.')));
}

/* For a kernel that is wrong: the sentence, or '' where nothing is missing, or where rows were not written at all. */
function makeUnread(run, kernel, described) {
	if (kernel.verified || kernel.skipped || described.maps.some((map) => map.unwritten))
		return '';
	const traced = tracedKernels().find((one) => one.run === run && one.described === described);
	const unread = traced && findUnread(traced);
	if (unread)
		return element('p', {class: 'unread', 'data-unread': unread.gap.join()}, tellUnread(unread, (described.tile || [])[1]));
	const i = [kernel.model, kernel.model_requested, kernel.model_footprint].filter(Boolean).findIndex(({counts}) => counts === 'requested');
	const few = described.measured[i] ? [kernel.model, kernel.model_requested, kernel.model_footprint].filter(Boolean)[i].read_elements -
		described.measured[i].read_elements : 0;
	return few > 0 ? element('p', {class: 'unread'}, `It reads ${plural(few, 'element')} fewer than its closed form: something is passed over. ` +
		'Look at where its loops end.') : '';
}
