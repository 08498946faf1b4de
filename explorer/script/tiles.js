/*
 * The tiles of a run's K: in the order in which the block of the page's queries fetches them, what that block moves for each, and
 * what each makes of m, l and o. Numbers come from the run's Q, K and V, in double precision; bytes from its trace.
 */

const ownTile = 32, widestTile = 128; /* keys: of a tile where the trace has none; more at once is no tile */

/* fp32 numbers as base64 of little-endian bytes. */
function unpack(text) {
	const view = new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
	return Array.from({length: view.byteLength / 4}, (_, i) => view.getFloat32(4 * i, true));
}

/* Row i of values that lie row by row. */
const rowAt = (values, i, length) => values.slice(i * length, (i + 1) * length);

/*
 * {kernel, tiles: [{first, wide}], isCut}: of the first kernel whose block of query `row` loads K once, a tile at a time, and stores O, that
 * block's groups put together to phases: what comes before the first tile, then for each tile its load and its computation, then what
 * is stored once, after the last, and what belongs to keys that this page does not have (isCut: it has such). They are the kernel's groups,
 * each with the `intervals` that it is put together from and the rows of Q that it is about, `queries`. null: no kernel.
 */
function tilesInTrace(run, row, d, keys) {
	const isOf = (tensor, op) => (access) => access.space === 'global' && access.tensor === tensor && access.op === op;
	const at = 4 * row * d, covers = ({ranges}) => ranges.some(([first, end]) => first <= at && at < end);
	for (const kernel of tracedKernels().filter((one) => one.run === run)) {
		const home = kernel.groups.find((group) => group.accesses.some((access) => isOf('Q', 'load')(access) && covers(access)) &&
			kernel.groups.some((other) => other.header === group.header && other.accesses.some(isOf('O', 'store'))));
		const own = home ? kernel.groups.filter(({header, block}) => header === home.header && block === home.block) : [];
		const phases = [[]], tiles = [], beyond = [];
		let seen = 0, isLoad = false, isOnce = true;
		for (const group of own) {
			const loaded = group.accesses.filter(isOf('K', 'load')).flatMap(({ranges}) => ranges), loads = loaded.length > 0;
			isOnce = isOnce && (!loads || Math.floor(loaded[0][0] / (4 * d)) >= seen);
			if (beyond.length > 0 || (loads && seen >= keys)) {
				beyond.push(group);
				continue;
			}
			if (loads || isLoad)
				phases.push([]);
			if (loads) {
				const end = Math.ceil(Math.max(...loaded.map(([, last]) => last)) / (4 * d));
				tiles.push({first: seen, wide: Math.min(end, keys) - seen});
				seen = end;
			}
			isLoad = loads;
			phases[phases.length - 1].push(group);
		}
		if (!isOnce || tiles.length === 0 || phases.length !== 2 * tiles.length + 1 || tiles.some(({wide}) => wide > widestTile))
			continue;
		/* A last interval computes and stores what no other one of the block stored: that store is a phase of its own. */
		const joined = phases.map((groups) => groups.flatMap(({accesses}) => accesses)), last = joined.length - 1;
		const isFinal = (access) => access.space === 'global' && access.op === 'store' && !joined.some((other, p) => p < last && other.some(isOf(access.tensor, 'store')));
		joined.push([...joined[last].filter(isFinal), ...beyond.flatMap(({accesses}) => accesses)]);
		joined[last] = joined[last].filter((access) => !isFinal(access));
		const moved = joined.map((accesses) => accesses.reduce((sum, {space, bytes: some}) => sum + (space === 'global' ? some : 0), 0));
		const rowsOf = (accesses) => [...new Set(accesses.filter(isOf('Q', 'load')).flatMap(({ranges}) => ranges).flatMap(([first, end]) =>
			Array.from({length: Math.ceil(end / (4 * d)) - Math.floor(first / (4 * d))}, (_, i) => Math.floor(first / (4 * d)) + i)))].sort((a, b) => a - b);
		const queries = joined.map(rowsOf), all = rowsOf(joined.flat()); /* one that does not read Q has the rows in registers */
		return {tiles, isCut: beyond.length > 0, kernel: {...kernel, groups: joined.map((accesses, p) => ({...(phases[p] || phases[last])[0] || home, accesses,
			bytes: moved[p], end: moved.slice(0, p + 1).reduce((sum, some) => sum + some, 0), queries: queries[p].length ? queries[p] : all,
			intervals: [...new Set((phases[p] || [...phases[last].slice(-1), ...beyond]).map(({interval}) => interval))]}))}};
	}
	return null;
}

/*
 * {tiles, steps}. A tile has S and P, [row][key], null where it is masked, the correction of each row, and of each row m, l and o
 * before and after it. A step is {kind, tile, phase}: which of the kernel's phases it shows. S, m, P and o of a tile have one phase
 * between them: a trace tells intervals apart, and one of these may do all four. often: the kernel stores O after every tile.
 */
function computeTiles({first_row: from, rows, keys, scale, Q, K, V}, causal, found) {
	const d = Q.length / rows, shown = V.length / keys, steps = [];
	const places = found ? found.tiles : Array.from({length: Math.ceil(keys / ownTile)}, (_, t) => ({first: t * ownTile, wide: Math.min(ownTile, keys - t * ownTile)}));
	let state = Array.from({length: rows}, () => ({m: -Infinity, l: 0, o: Array(shown).fill(0)}));
	if (found && found.kernel.groups[0].bytes > 0) /* FlashAttention-1 reads Q with each tile instead */
		steps.push({kind: 'query', tile: 0, phase: 0});
	const tiles = places.map(({first, wide}, t) => {
		const before = state;
		const S = before.map((_, i) => Array.from({length: wide}, (_, j) => causal && first + j > from + i ? null
			: scale * rowAt(Q, i, d).reduce((sum, q, c) => sum + q * K[(first + j) * d + c], 0)));
		const m = before.map((row, i) => Math.max(row.m, ...S[i].filter((s) => s !== null)));
		const corrections = before.map((row, i) => row.m === -Infinity ? 0 : Math.exp(row.m - m[i]));
		const P = S.map((row, i) => row.map((s) => s === null ? 0 : Math.exp(s - m[i])));
		state = before.map((row, i) => ({m: m[i], l: row.l * corrections[i] + P[i].reduce((sum, p) => sum + p, 0),
			o: row.o.map((o, c) => o * corrections[i] + P[i].reduce((sum, p, j) => sum + p * V[(first + j) * shown + c], 0))}));
		if (found)
			steps.push({kind: 'load', tile: t, phase: 2 * t + 1});
		steps.push(...['score', 'maximum', 'weights', 'output'].map((kind) => ({kind, tile: t, phase: 2 * t + 2})));
		return {first, wide, S, P, before, after: state, corrections};
	});
	steps.push({kind: 'divide', tile: tiles.length - 1, phase: 2 * tiles.length + 1});
	const often = !!found && found.kernel.groups.slice(0, -1).some(({accesses}) => accesses.some(({tensor, op}) => tensor === 'O' && op === 'store'));
	return {tiles, steps, d, shown, often};
}
