/* The view of the splits: a block after the other, in the order of splits.js, then what the splits cost. */

const mostSplits = 256; /* drawn; more are left out, and that is said */
const mostLinesBetween = 64; /* cells with a line between them */

/* A bar of `all` cells; those in `now` and in `before` are marked. Cells side by side are one piece. */
function drawCells(all, now, before, kind, {y, height, width}) {
	const parts = [element('rect', {class: 'cells', x: 0.5, y, width: width - 1, height})], mark = (cells, name) => {
		for (const [first, last] of runsIn([...cells].sort((a, b) => a - b)))
			parts.push(element('rect', {class: name, x: width * first / all, y, width: Math.max(0.7, width * (last + 1 - first) / all), height}));
	};
	mark(new Set([...before].filter((cell) => cell < all)), `${kind}-before`);
	mark(new Set([...now].filter((cell) => cell < all)), `${kind}-now`);
	if (all <= mostLinesBetween)
		parts.push(element('path', {class: 'between', d: Array.from({length: all - 1}, (_, i) => `M${width * (i + 1) / all} ${y}v${height}`).join('')}));
	return parts;
}

/* Keys of one head of keys, the partials of its heads of queries, a line each, and their rows of O. */
function drawSplits(kernel, blocks, step) {
	const {heads: H, kv_heads: G, splits: S} = kernel.run.result.problem, now = blocks[step - 1], head = now ? now.head : 0;
	const narrow = innerWidth <= 700, width = narrow ? 400 : 960, shown = Math.min(S, mostSplits), parts = [];
	const before = blocks.slice(0, Math.max(0, step - 1)).filter((one) => one.head === head), all = (key, merges) =>
		before.filter((one) => one.merges === merges).flatMap((one) => one[key]);
	const first = now && !now.merges ? now : null, merge = now && now.merges ? now : null;
	const keysIn = keysTensor(kernel), places = keysIn ? keysIn.rows / G : 0;
	const table = kernel.tensors.find(({name}) => name === 'table');
	let y = 0;
	const label = (text) => parts.push(element('text', {x: 0, y: y += 14}, text));
	const bar = (height, ...how) => {
		parts.push(...drawCells(...how, {y: y += 5, height, width}));
		y += height;
	};
	if (table) {
		label(`The table: ${plural(table.rows * table.columns, 'page')} in the order of the text`);
		bar(18, table.rows * table.columns, first ? first.words : [], all('words', false), 'load');
		y += 8;
	}
	if (places) {
		label(keysIn.name === 'K' ? `Keys 0\u2013${places - 1}` + (G > 1 ? ` of KV head ${head}` : '') : `Where the keys lie: ${count(places)} places in memory`);
		bar(22, places, first ? first.keys : [], all('keys', false), 'load');
	}
	y += 8;
	label('m, l, O of each split' + (H > G ? `, a line for each of heads ${head * H / G}\u2013${(head + 1) * H / G - 1}` : ''));
	for (let h = head * H / G; h < (head + 1) * H / G; h++) {
		const ofHead = (cells) => cells.filter((cell) => cell % H === h).map((cell) => Math.floor(cell / H));
		const read = merge ? ofHead(merge.cells) : [], written = first ? ofHead(first.cells) : [];
		bar(12, shown, read.length ? read : written, ofHead(all('cells', false)), read.length ? 'load' : 'store');
		y -= 2;
	}
	y += 10;
	label(`O: ${H > G ? 'a part for each of these heads' : `head ${head}`}`);
	bar(18, H / G, merge ? merge.rows.map((row) => row - head * H / G) : [], all('rows', true).map((row) => row - head * H / G), 'store');
	return makeSvg(width, y + 2, 'splits', now ? tellSplit(now, kernel) : 'Nothing has been read yet', parts);
}

/* A line for each kernel: what the splits cost. */
function tableOfSplits(kernels) {
	const heads = ['kernel', 'blocks', 'keys of a block', 'K and V', 'Q', 'table', 'partials written', 'and read again'];
	const rows = kernels.map((kernel) => {
		const blocks = splitBlocks(kernel), first = blocks.filter(({merges}) => !merges), sum = (list, key) => list.reduce((all, one) => all + one[key], 0);
		const sizes = first.map(({keys}) => keys.length), least = Math.min(...sizes), most = Math.max(...sizes);
		return [kernel.label, count(first.length), !sizes.length ? 0 : least === most ? most : `${least}\u2013${most}`, bytes(sum(first, 'cache')), bytes(sum(first, 'query')),
			bytes(sum(first, 'table')), bytes(sum(first, 'partials')), bytes(sum(blocks.filter(({merges}) => merges), 'partials'))];
	});
	return element('table', {}, element('thead', {}, element('tr', {}, heads.map((name) => element('th', {scope: 'col'}, name)))),
		element('tbody', {}, rows.map((row) => element('tr', {}, row.map((cell) => element('td', {}, String(cell)))))));
}

function makeSplitsView() {
	const kernels = splitKernels();
	if (kernels.length === 0)
		return null;
	let kernel = kernels[0], blocks = [], step = 0;
	const picture = element('div', {class: 'memory-map'}), told = element('p', {class: 'split-told'}), chips = element('div', {class: 'chips', role: 'group', 'aria-label': 'Kernel'});
	const {splits} = kernel.run.result.problem;
	const draw = () => {
		const now = blocks[step - 1];
		picture.replaceChildren(drawSplits(kernel, blocks, step));
		told.textContent = now ? tellSplit(now, kernel) : 'Each block reads a part of the keys. Step on: the blocks come by KV head (a head of keys and values), then by split; ' +
			'on a GPU they run at once, as many as it has room for.';
		Object.assign(picture.dataset, {keys: now ? now.keys.join() : '', cells: now ? now.cells.join() : '', rows: now ? now.rows.join() : ''});
		chips.replaceChildren(...kernels.map((one) => element('button', {type: 'button', class: 'chip', 'aria-pressed': one === kernel,
			onclick: () => choose(one.name)}, one.label)));
		player.show(`block ${step} of ${blocks.length}`);
	};
	const player = makePlayer({count: () => blocks.length, value: () => step, set: (to) => {
		step = Math.max(0, Math.min(blocks.length, to));
		state.set({s: step || null});
		draw();
		say(told.textContent);
	}}, 'Block');
	const take = (name) => {
		kernel = kernels.find((one) => one.name === name) || kernels[0];
		blocks = splitBlocks(kernel);
	};
	const choose = (name) => {
		take(name);
		step = Math.min(step, blocks.length);
		state.set({k: name});
		draw();
		[...chips.children].find((chip) => chip.textContent === kernel.label).focus();
	};
	const legend = element('p', {class: 'legend'}, [['swatch-load', 'read now'], ['swatch-seen', 'read before'], ['swatch-plain', 'written now'],
		['swatch-written', 'written before']].map(([swatch, text]) => element('span', {}, element('i', {class: swatch}), text)));
	chips.hidden = kernels.length < 2;
	const node = element('div', {class: 'stack', id: 'splits'}, player.node, chips, told, element('section', {class: 'card', 'aria-label': 'One block'}, picture), legend,
		splits > mostSplits ? element('p', {class: 'note'}, `The first ${mostSplits} of ${count(splits)} splits are drawn.`) : '',
		element('section', {class: 'stack column', 'aria-label': 'What the splits cost'}, element('h2', {}, 'What the splits cost'),
			makeScroll('Bytes of each kernel', tableOfSplits(kernels)),
			element('p', {class: 'note'}, 'K and V are read once, however many splits there are. Each split reads Q again and leaves partials, which the merge ' +
				'reads: this is the price of having more blocks.')));
	const restore = () => {
		take(state.get('k'));
		step = state.whole('s', blocks.length, 0);
		draw();
	};
	return {id: 'splits', name: 'The splits', node, keys: ['s', 'k'], restore, key: player.key, stop: () => {}, resized: draw, themed: () => {}};
}
