/*
 * The five products of the backward pass, one after the other, for a tile of queries and one of keys. Which of them a kernel
 * computes follows from what it writes: a gradient cannot be without the products before it.
 */

const productSteps = [
	{name: 'S', formula: 'S = Q K\u1d40', of: [['Q', 'Br', 'd'], ['K\u1d40', 'd', 'Bc'], ['S', 'Br', 'Bc']],
		text: 'The forward pass kept no S. It is computed again, and with the LSE that was kept, P = e^(scale \u00b7 S \u2212 LSE) needs no maximum.'},
	{name: 'dV', formula: 'dV += P\u1d40 dO', of: [['P\u1d40', 'Bc', 'Br'], ['dO', 'Br', 'd'], ['dV', 'Bc', 'd']],
		text: 'Each key\u2019s value had a share P in each query\u2019s output, so it gets that share of the output\u2019s gradient.'},
	{name: 'dP', formula: 'dP = dO V\u1d40', of: [['dO', 'Br', 'd'], ['V\u1d40', 'd', 'Bc'], ['dP', 'Br', 'Bc']],
		text: 'How much each weight counts. Then dS = P \u2218 (dP \u2212 D), with D = rowsum(dO \u2218 O): no product, an operation an element.'},
	{name: 'dQ', formula: 'dQ += scale \u00b7 dS K', of: [['dS', 'Br', 'Bc'], ['K', 'Bc', 'd'], ['dQ', 'Br', 'd']],
		text: 'A query\u2019s gradient is a sum over all keys: blocks that own keys would have to add to it together.'},
	{name: 'dK', formula: 'dK += scale \u00b7 dS\u1d40 Q', of: [['dS\u1d40', 'Bc', 'Br'], ['Q', 'Br', 'd'], ['dK', 'Bc', 'd']],
		text: 'A key\u2019s gradient is a sum over all queries: blocks that own keys can keep it on the chip.'},
];

/* What must be computed for what is written, and what need not be where it is read. */
const neededFor = {dV: ['S', 'dV'], dK: ['S', 'dP', 'dK'], dQ: ['S', 'dP', 'dQ'], S: ['S'], P: ['S'], dP: ['dP'], dS: ['S', 'dP']};
const givenBy = {S: ['S'], P: ['S'], dP: ['dP'], dS: ['S', 'dP']};

/* [{launch, names}]: the products of each launch, by the tensors that it stores or adds to, without what it loads. */
function productsOf(kernel) {
	return kernel.launches.map((launch) => {
		const accesses = kernel.groups.filter((group) => group.header === launch).flatMap((group) => group.accesses)
			.filter((access) => access.space === 'global');
		const tensors = (isLoad) => new Set(accesses.filter((access) => (access.op === 'load') === isLoad).map((access) => access.tensor));
		const listed = (table, touched) => [...touched].flatMap((name) => table[name] || []);
		const loads = tensors(true), writes = tensors(false);
		const given = listed(givenBy, [...loads].filter((name) => !writes.has(name)));
		const needed = listed(neededFor, writes).filter((name) => !given.includes(name));
		const names = productSteps.map(({name}) => name).filter((name) => needed.includes(name));
		return {launch: launch.kernel, names};
	});
}

function drawProduct({of}) {
	const sizes = {Br: 64, Bc: 84, d: 46}, gapBetween = 34;
	let x = 2;
	const parts = of.flatMap(([name, rows, columns], i) => {
		const width = sizes[columns], height = sizes[rows], y = 62 - height / 2;
		const box = [element('rect', {class: i === 2 ? 'result' : 'operand', x, y, width, height, rx: 3}),
			element('text', {class: 'value', x: x + width / 2, y: 66, 'text-anchor': 'middle'}, name),
			element('text', {x: x + width / 2, y: 122, 'text-anchor': 'middle'}, `${rows} \u00d7 ${columns}`)];
		const sign = i < 2 ? [element('text', {class: 'value', x: x + width + gapBetween / 2, y: 66, 'text-anchor': 'middle'}, i === 0 ? '\u00b7' : '=')] : [];
		x += width + gapBetween;
		return [...box, ...sign];
	});
	return makeSvg(330, 130, 'product', of.map(([name, rows, columns]) => `${name}, ${rows} by ${columns}`).join('; '), parts);
}

function makeProductsView() {
	const kernels = tracedKernels().filter((kernel) => ['dQ', 'dK', 'dV'].every((name) => kernel.tensors.some((tensor) => tensor.name === name)));
	if (kernels.length === 0)
		return null;
	let step = 1;
	const picture = element('div', {class: 'stack column card'}), list = element('ol', {class: 'products'}), table = makeScroll('Products of each launch');
	const rows = kernels.flatMap((kernel) => productsOf(kernel).filter(({names}) => names.length).map((row, i) => ({...row, kernel, i})));
	const total = (kernel) => rows.filter((row) => row.kernel === kernel).reduce((sum, row) => sum + row.names.length, 0);
	const draw = () => {
		const now = productSteps[step - 1];
		picture.replaceChildren(element('h2', {}, now.formula), drawProduct(now), element('p', {}, now.text));
		list.replaceChildren(...productSteps.map((each, i) => element('li', {class: i === step - 1 ? 'now' : null}, each.formula)));
		table.replaceChildren(element('table', {}, element('thead', {}, element('tr', {}, ['kernel', 'launch', ...productSteps.map(({name}) => name), 'products']
			.map((name) => element('th', {scope: 'col', class: name === now.name ? 'now' : null}, name)))),
		element('tbody', {}, rows.map((row) => element('tr', {'data-products': row.names.length}, element('td', {}, row.i === 0 ? row.kernel.label : ''),
			element('td', {}, row.launch), productSteps.map(({name}) => element('td', {class: name === now.name ? 'now' : null}, row.names.includes(name) ? '\u2713' : '')),
			element('td', {}, String(row.names.length)))))));
		player.show(`product ${step} of ${productSteps.length}: ${now.formula}`);
	};
	const player = makePlayer({count: () => productSteps.length, value: () => step, set: (to) => {
		step = Math.max(1, Math.min(productSteps.length, to));
		state.set({s: step});
		draw();
		say(productSteps[step - 1].formula);
	}}, 'Product');
	const sums = kernels.map((kernel) => `${kernel.label}: ${total(kernel)}`).join(', ');
	const node = element('div', {class: 'stack', id: 'products'}, player.node,
		element('div', {class: 'softmax-grid'}, picture, element('div', {class: 'card'}, list)),
		element('section', {class: 'stack column', 'aria-label': 'Who computes them'}, element('h2', {}, 'Who computes them'), table,
			element('p', {class: 'note'}, `Products in all: ${sums}. A kernel that is split in two, one that owns keys and one that owns queries, ` +
				'computes S and dP twice, seven products, and needs no atomics; one pass has five, and its blocks must add to dQ.')));
	const restore = () => {
		step = Math.max(1, state.whole('s', productSteps.length, 1));
		draw();
	};
	return {id: 'products', name: 'Five products', node, keys: ['s'], restore, key: player.key, stop: () => {}, resized: draw, themed: () => {}};
}
