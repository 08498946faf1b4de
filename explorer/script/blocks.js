/*
 * Which block reads what: a line a block, a column a row of the tensor, marked where the block asks for it. All blocks of
 * FlashAttention-2 read all keys, below a causal mask a triangle; where the keys are split, each reads a part.
 */

const mostLines = 256; /* blocks drawn; more are left out, and that is said */

/* [{name, launch, blocks: [{block, rows: Uint8Array}]}] of the launches that load the tensor. */
function readersOf(kernel, tensor) {
	const readers = [];
	for (const launch of kernel.launches) {
		const blocks = new Map();
		for (const group of kernel.groups.filter((one) => one.header === launch))
			for (const access of group.accesses.filter((one) => one.space === 'global' && one.tensor === tensor.name && one.op === 'load')) {
				if (!blocks.has(group.block))
					blocks.set(group.block, new Uint8Array(tensor.rows));
				const length = 4 * tensor.columns, rows = blocks.get(group.block);
				for (const [first, end] of access.ranges)
					rows.fill(1, Math.floor(first / length), Math.ceil(end / length));
			}
		if (blocks.size)
			readers.push({name: launch.kernel, blocks: [...blocks].map(([block, rows]) => ({block, rows}))});
	}
	return readers;
}

/* The share of the tensor that a block reads, in the mean. */
function meanShare({blocks}) {
	const read = blocks.reduce((sum, {rows}) => sum + rows.reduce((all, one) => all + one, 0), 0);
	return read / blocks.length / blocks[0].rows.length;
}

function drawReaders(canvas, reader) {
	const lines = reader.blocks.slice(0, mostLines), width = Math.min(reader.blocks[0].rows.length, 512);
	canvas.width = width;
	canvas.height = lines.length;
	const context = canvas.getContext('2d'), image = context.createImageData(width, lines.length);
	const colors = new Uint32Array(image.data.buffer);
	lines.forEach(({rows}, y) => {
		for (let row = 0; row < rows.length; row++) {
			const at = y * width + Math.floor(row * width / rows.length);
			colors[at] = rows[row] ? palette[LOADED] : colors[at] || palette[0];
		}
	});
	context.putImageData(image, 0, 0);
}

/* {node, draw()}: K where there is one, else what most blocks read. */
function makeBlocks(kernels) {
	const drawings = [], cards = kernels.flatMap((kernel) => {
		const loaded = kernel.tensors.filter((tensor) => readersOf(kernel, tensor).length);
		const tensor = loaded.find(({name}) => name === 'K') || loaded[0];
		return (tensor ? readersOf(kernel, tensor) : []).filter((reader) => reader.blocks.length > 1).map((reader) => {
			const canvas = element('canvas', {'aria-hidden': 'true',
				style: `width:100%;height:${Math.max(24, Math.min(160, 14 * reader.blocks.length))}px`});
			const share = meanShare(reader), all = reader.blocks.length;
			if (share <= 0.999) /* all of it by all is said, and no picture */
				drawings.push(() => drawReaders(canvas, reader));
			return element('figure', {class: 'readers', 'data-share': share.toFixed(4), 'data-kernel': kernel.name},
				element('figcaption', {}, element('b', {}, kernel.launches.length > 1 ? reader.name : kernel.label), ' ',
					element('span', {class: 'dim small'}, share > 0.999
						? `Each of the ${plural(all, 'block')} reads all ${plural(tensor.rows, 'row')} of ${tensor.name}.`
						: `${plural(all, 'block')} down, ${plural(tensor.rows, 'row')} of ${tensor.name} across. ` +
							`A block reads ${figure(100 * share, 3)} % of ${tensor.name} in the mean.` +
							(all > mostLines ? ` The first ${mostLines} blocks are shown.` : ''))),
				share > 0.999 ? '' : element('div', {class: 'memory'}, canvas));
		});
	});
	const node = cards.length === 0 ? element('div') : element('section', {class: 'card', 'aria-label': 'Which block reads what'},
		element('h2', {}, 'Which block reads what'), element('div', {class: 'reader-grid'}, cards));
	node.hidden = cards.length === 0;
	return {node, draw: () => drawings.forEach((draw) => draw())};
}
