/*
 * A piece of memory as a picture: an element a dot, those that move now in full color (stores and atomics hatched), those that
 * moved before tinted. Over it lie its tiles, which take the pointer and the keyboard.
 */

const LOADED = 1, STORED = 2, ADDED = 4;
const bitOf = {load: LOADED, store: STORED, atomic: ADDED};

function colorOf(name) {
	const probe = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	return [1, 3, 5].map((at) => parseInt(probe.slice(at, at + 2), 16));
}

/* Colors by what a dot has done: 8 * before + now, in the second half for the dots of a hatch. */
let palette = null;
function readPalette() {
	const [load, store, atomic, seen, written, empty, ground] =
		['load', 'store-fill', 'atomic', 'load-soft', 'store-soft', 'faint', 'ground'].map((name) => colorOf(`--${name}`));
	const [hatched, added] = [store, atomic].map((color) => color.map((part, i) => Math.round(0.45 * part + 0.55 * ground[i])));
	palette = new Uint32Array(128);
	for (let i = 0; i < 128; i++) {
		const now = i & 7, before = (i >> 3) & 7, hatch = i >= 64;
		const [red, green, blue] = now & ADDED ? hatch ? added : atomic : now & STORED ? hatch ? now & LOADED ? load : hatched : store
			: now ? load : before & (STORED | ADDED) ? written : before ? seen : empty;
		palette[i] = (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
	}
}

/* Dots are elements, or several of them where there are too many. */
function makeDots(rows, columns) {
	const across = Math.min(columns, 256), down = Math.min(rows, 256);
	return {rows, columns, across, down, before: new Uint8Array(across * down), now: new Uint8Array(across * down)};
}

function markRange(dots, target, range, bit) {
	const first = Math.floor(range[0] / 4), end = Math.ceil(range[1] / 4);
	let previous = -1;
	for (let row = Math.floor(first / dots.columns); row < dots.rows && row * dots.columns < end; row++) {
		const from = Math.max(first - row * dots.columns, 0), to = Math.min(end - row * dots.columns, dots.columns);
		const y = Math.floor(row * dots.down / dots.rows);
		const whole = from === 0 && to === dots.columns;
		if (whole && y === previous)
			continue;
		previous = whole ? y : -1;
		const left = Math.floor(from * dots.across / dots.columns), right = Math.ceil(to * dots.across / dots.columns);
		for (let x = left; x < right; x++)
			target[y * dots.across + x] |= bit;
	}
}

/* `turned` draws columns downwards: shared memory, whose rows are its 32 banks. */
function paint(canvas, dots, turned) {
	const width = turned ? dots.down : dots.across, height = turned ? dots.across : dots.down;
	if (canvas.width !== width || canvas.height !== height) {
		canvas.width = width;
		canvas.height = height;
	}
	const context = canvas.getContext('2d'), image = dots.image = dots.image || context.createImageData(width, height);
	const colors = new Uint32Array(image.data.buffer);
	for (let y = 0; y < height; y++)
		for (let x = 0; x < width; x++) {
			const at = turned ? x * dots.across + y : y * dots.across + x;
			colors[y * width + x] = palette[8 * dots.before[at] + dots.now[at] + ((x + y) % 4 === 0 ? 64 : 0)];
		}
	context.putImageData(image, 0, 0);
}

/* The first share of ranges, by bytes: what has moved so far of what moves now. */
function firstOf(ranges, share) {
	if (share >= 1)
		return ranges;
	let left = share * ranges.reduce((sum, [first, end]) => sum + end - first, 0);
	const some = [];
	for (const [first, end] of ranges) {
		if (left <= 0)
			break;
		some.push([first, Math.min(end, first + left)]);
		left -= end - first;
	}
	return some;
}

/* How tall a tile is: the kernel's own, of queries or of keys; else a power of two that leaves at most eight. */
function tileRows(tensor, tile) {
	const own = tile && tile[/^d?[KV]$/.test(tensor.name) ? 1 : 0];
	let rows = own || 1;
	while (tensor.rows / rows > (own ? 32 : 8))
		rows *= 2;
	return Math.min(rows, tensor.rows);
}

/*
 * {node, dots, tensor, paint()}. inspect(tile) is called with {tensor, name, top, bottom, left, right} when a tile gets
 * the pointer or the focus, inspect(null) when it loses them; without inspect there are no tiles to point at.
 */
function makeTensorView(tensor, owner, tile, width, height, inspect) {
	const dots = makeDots(tensor.rows, tensor.columns);
	const canvas = element('canvas', {style: `width:${width}px;height:${height}px`, 'aria-hidden': 'true'});
	const node = element('div', {class: 'memory'}, canvas);
	if (!inspect)
		return {node, dots, tensor, paint: () => paint(canvas, dots, false)};
	const tall = tileRows(tensor, tile), square = tensor.columns > 128 || tensor.columns === tensor.rows;
	const wide = square ? Math.min(tensor.columns, Math.max(tile ? tile[1] : tall, Math.ceil(tensor.columns / 32))) : tensor.columns;
	const across = Math.ceil(tensor.columns / wide);
	for (let top = 0; top < tensor.rows; top += tall)
		for (let left = 0; left < tensor.columns; left += wide) {
			const tile = {tensor, top, bottom: Math.min(top + tall, tensor.rows),
				left, right: Math.min(left + wide, tensor.columns)};
			const rows = tile.bottom - top === 1 ? `row ${top}` : `rows ${top}\u2013${tile.bottom - 1}`;
			tile.name = `${tensor.name} ${rows}` + (across > 1 ? `, columns ${left}\u2013${tile.right - 1}` : '');
			const button = element('button', {
				type: 'button', class: 'tile', 'aria-label': `${tile.name} of ${owner}`, tabindex: -1,
				style: `left:${100 * left / tensor.columns}%;top:${100 * top / tensor.rows}%;` +
					`width:${100 * (tile.right - left) / tensor.columns}%;height:${100 * (tile.bottom - top) / tensor.rows}%`,
				onpointerenter: () => inspect(tile), onfocus: () => inspect(tile),
				onpointerleave: () => inspect(null), onblur: () => inspect(null), onclick: () => inspect(tile)});
			node.append(button);
		}
	return {node, dots, tensor, paint: () => paint(canvas, dots, false)};
}

/* Shared memory: a column is 128 bytes, one word in each of the 32 banks. */
function makeSharedView(array) {
	const rows = Math.ceil(array.bytes / 128), dots = makeDots(rows, 32);
	const width = Math.max(120, Math.min(rows * 6, 420));
	const canvas = element('canvas', {style: `width:100%;max-width:${width}px;height:64px`,
		role: 'img', 'aria-label': `${array.name}: ${bytes(array.bytes)} a block`});
	return {node: element('div', {class: 'memory'}, canvas), dots, array, width, paint: () => paint(canvas, dots, true)};
}

function touches(access, tile) {
	if (access.tensor !== tile.tensor.name || access.space !== 'global')
		return false;
	const length = 4 * tile.tensor.columns;
	return access.ranges.some(([first, end]) => {
		/* A range is a run of bytes; the tile is a rectangle. Rows that the range covers whole decide at once. */
		for (let row = Math.max(tile.top, Math.floor(first / length)); row < tile.bottom && row * length < end; row++)
			if (first < row * length + 4 * tile.right && end > row * length + 4 * tile.left)
				return true;
		return false;
	});
}
