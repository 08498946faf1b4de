/*
 * The splits of chapter 08: which block reads which keys, what it leaves of them, and how a second launch makes one output
 * of the partials. All of it is what the blocks asked of memory; where keys lie in pages, the table's words say which.
 */

const partials = ['m of splits', 'l of splits', 'O of splits'];

/* The first launch leaves m, l and O of each split, the second reads them. A wrong kernel may touch only some, or not be merged. */
function splitKernels() {
	return tracedKernels().filter((kernel) => kernel.tensors.some(({name}) => partials.includes(name)));
}

/* The tensor that holds the keys, whether or not a block touches it, with its rows; undefined: there is none. */
function keysTensor({described}) {
	const found = ['K pages', 'K'].map((name) => described.tensors.find((tensor) => tensor.name === name)).find(Boolean);
	return found && {name: found.name, rows: found.shape.slice(0, -1).reduce((product, size) => product * size, 1)};
}

/* The rows, `length` bytes each, that these accesses of a tensor touch. */
function touchedRows(accesses, tensor, op, length) {
	const rows = new Set();
	for (const access of accesses)
		if (access.space === 'global' && access.tensor === tensor && access.op === op)
			for (const [first, end] of access.ranges)
				for (let row = Math.floor(first / length); row * length < end; row++)
					rows.add(row);
	return [...rows].sort((a, b) => a - b);
}

function bytesOf(accesses, names, op) {
	return accesses.filter((access) => access.space === 'global' && names.includes(access.tensor) && access.op === op)
		.reduce((sum, access) => sum + access.bytes, 0);
}

/* [{block, head, splits, heads, keys, words, ...bytes}]: by head of keys, then by split; `keys` are places in K or its pages. */
function splitBlocks(kernel) {
	const {heads: H, kv_heads: G, dim} = kernel.run.result.problem, blocks = new Map();
	const keysIn = keysTensor(kernel);
	for (const group of kernel.groups) {
		const id = `${kernel.launches.indexOf(group.header)}:${group.block}`;
		blocks.set(id, [...(blocks.get(id) || []), group]);
	}
	const first = (list) => list[0] ?? 0;
	return [...blocks.values()].map((groups) => {
		const accesses = groups.flatMap((group) => group.accesses), merges = groups[0].header === kernel.launches[1];
		const cells = partials.map((name) => touchedRows(accesses, name, merges ? 'load' : 'store', name[0] === 'O' ? 4 * dim : 4))
			.find((rows) => rows.length) || [];
		const places = keysIn ? touchedRows(accesses, keysIn.name, 'load', 4 * dim) : [];
		const head = cells.length ? Math.floor((cells[0] % H) / (H / G)) : places.length ? places[0] % G : 0;
		return {
			merges, block: blockOf(groups[0]), launch: groups[0].kernel, cells,
			heads: [...new Set(cells.map((cell) => cell % H))], splits: [...new Set(cells.map((cell) => Math.floor(cell / H)))],
			head, keys: [...new Set(places.map((row) => Math.floor(row / G)))],
			words: touchedRows(accesses, 'table', 'load', 4), rows: touchedRows(accesses, 'O', 'store', 4 * dim),
			cache: bytesOf(accesses, ['K', 'V', 'K pages', 'V pages'], 'load'), query: bytesOf(accesses, ['Q'], 'load'),
			table: bytesOf(accesses, ['table'], 'load'), partials: bytesOf(accesses, partials, merges ? 'load' : 'store'),
		};
	}).sort((a, b) => a.merges - b.merges || (a.merges ? first(a.heads) - first(b.heads) : a.head - b.head || first(a.splits) - first(b.splits)));
}

function tellSplit(one, kernel) {
	const {seq, kv_heads: G, splits: S} = kernel.run.result.problem;
	if (one.splits.length === 0)
		return `Block (${one.block}) of ${one.launch} ${one.merges ? 'reads' : 'writes'} no m, l or O of a split` +
			(one.keys.length ? `; it reads ${several(one.keys, 'key')}.` : '.');
	if (one.merges)
		return `Block (${one.block}) of ${one.launch} reads m, l and O of ${one.splits.length === 1 ? 'the one split' : `all ${one.splits.length} splits`} ` +
			`of ${several(one.heads, 'head')}, ${bytes(one.partials)}. With m the largest m of them, a split\u2019s O and l are multiplied by ` +
			`e^(m of the split \u2212 m) and summed; their quotient is ` +
			(one.rows.length ? `${several(one.rows, 'row')} of O.` : 'a row of O, but this block writes none.');
	const who = `Block (${one.block}) of ${one.launch} has ${several(one.splits, 'split')}` + (G > 1 ? ` of KV head ${one.head}` : '');
	if (one.keys.length === 0)
		return `${who}. ${S > seq ? 'There are more splits than keys, and it has none to read.' : 'It reads no key.'} It writes m = \u2212\u221e, l = 0, O = 0 of ` +
			`${several(one.heads, 'head')} all the same, ${bytes(one.partials)}, because the merge reads every split.`;
	const where = one.words.length ? `looks up ${several(one.words, 'page')} in the table and finds its ${plural(one.keys.length, 'key')} ` +
		`at ${several(one.keys, 'place')} of the cache` : `reads ${several(one.keys, 'key')}, ${one.keys.length} of ${count(seq)}`;
	return `${who}. It ${where}, ${bytes(one.cache)} of K and V, with Q of ${several(one.heads, 'head')}, and leaves m, l and ` +
		`O of ${one.heads.length === 1 ? 'this head' : 'these heads'}, O not divided yet: ${bytes(one.partials)}.`;
}
