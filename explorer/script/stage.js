/* The stage: three lanes (global memory, shared memory, registers) and the lines of source, a column a kernel. */

const gap = 10, thinnest = 20, narrowest = 64, narrow = 120, widest = 176; /* pixels; narrow: on a telephone */

function blockOf(group) {
	return group.block.replace(/,0,0$/, '');
}

/* At most four lines that moved something, those that touch global memory first. */
function linesOf(group) {
	const rank = new Map(), inOrder = (a, b) => a.localeCompare(b, 'en', {numeric: true});
	for (const access of group.accesses)
		for (const place of access.places)
			rank.set(place, access.space === 'global' ? 0 : rank.get(place) ?? 1);
	const places = [...rank].sort((a, b) => a[1] - b[1] || inOrder(a[0], b[0])).slice(0, 4);
	return places.map(([place]) => place).sort(inOrder);
}

/* `when`: of what time the sums are. */
function showFlow(node, sums, words, when = '') {
	const ops = Object.keys(words).filter((op) => sums[op] > 0);
	node.replaceChildren(...ops.map((op) => element('span', {class: op}, element('b', {}, bytes(sums[op])), ' ', words[op])), ops.length ? when : '');
}

/* What the kernel's tiles of shared memory are called, below where they lie. */
function regionsOf(kernel, view) {
	const regions = regionsIn(kernel, view.array.name), whole = view.array.bytes;
	if (regions.length === 0)
		return '';
	const end = (i) => i + 1 < regions.length ? regions[i + 1].first : whole;
	const name = (region, i) => element('span', {style: `width:${100 * (end(i) - region.first) / whole}%`}, region.name);
	return element('div', {class: 'regions', style: `max-width:${view.width}px`}, regions.map(name));
}

function makeColumn(kernel, widthOf, big, inspect) {
	const tallest = Math.max(...kernel.tensors.map((tensor) => tensor.rows));
	const flow = () => element('p', {class: 'flows'}), pipe = () => element('div', {class: 'pipe', 'aria-hidden': 'true'});
	const views = kernel.tensors.map((tensor) => {
		const height = Math.max(16, Math.round(big * tensor.rows / tallest));
		return makeTensorView(tensor, kernel.label, kernel.described.tile, widthOf(tensor, big), height, inspect && ((tile) => inspect(kernel, tile)));
	});
	return {
		kernel, views, shared: kernel.shared.map(makeSharedView), done: 0, told: undefined, hbm: flow(), chip: flow(), own: flow(),
		fromHbm: pipe(), toThreads: pipe(),
		where: element('p', {class: 'where'}), code: element('div', {class: 'code'}),
		threads: element('div', {class: 'threads', 'aria-hidden': 'true'}, Array.from({length: 32}, () => element('i'))),
	};
}

function markGroup(column, group, which, share) {
	for (const access of group.accesses) {
		const part = access.space === 'shared' ? column.shared.find((view) => view.array.name === access.tensor)
			: column.views.find((view) => view.tensor.name === access.tensor);
		if (!part)
			continue;
		firstOf(access.ranges, share).forEach((range) => markRange(part.dots, part.dots[which], range, bitOf[access.op]));
		part.isPainted = false;
		part.isLit = part.isLit || which === 'now';
	}
}

function forget(part) {
	part.dots.before.fill(0);
	part.isPainted = false;
}

/* Marks what moved before `done` groups were over, and what moves now; from the start where it went back. Paints what changed. */
function advance(column, {done, group, live, share}) {
	const groups = column.kernel.groups, parts = [...column.views, ...column.shared];
	const isAnew = column.done > done, from = isAnew ? 0 : column.done;
	for (const part of parts.filter(({isLit}) => isLit)) {
		part.dots.now.fill(0);
		part.isLit = part.isPainted = false;
	}
	if (isAnew)
		parts.forEach(forget);
	for (let g = from; g < done; g++) {
		/* Another block has its own shared memory: it starts empty. */
		if (g > 0 && groups[g].block !== groups[g - 1].block)
			column.shared.forEach(forget);
		markGroup(column, groups[g], 'before', 1);
	}
	if (live && done > 0 && group.block !== groups[done - 1].block)
		column.shared.forEach(forget);
	if (live)
		markGroup(column, group, 'now', share);
	column.done = done;
	for (const part of parts.filter(({isPainted}) => !isPainted)) {
		part.paint();
		part.isPainted = true;
	}
}

/* Bytes on their way between two lanes: down what is loaded, up what is stored. */
function drawPipe(node, sums) {
	node.toggleAttribute('data-down', sums.load > 0);
	node.toggleAttribute('data-up', sums.store + sums.atomic > 0);
}

/* Registers have no addresses: their lane shows how much is loaded into them and stored from them. */
function drawRegisters(column, hbm, chip) {
	const load = hbm.load + chip.load, store = hbm.store + chip.store + hbm.atomic + chip.atomic;
	const share = load + store > 0 ? Math.round(32 * load / (load + store)) : 0;
	const cut = load && store ? Math.min(31, Math.max(1, share)) : share;
	[...column.threads.children].forEach((cell, i) => {
		cell.className = load + store === 0 ? '' : i < cut ? 'load' : 'store';
	});
	showFlow(column.own, {load, store}, {load: 'loaded', store: 'stored'});
}

function drawCode(column, group) {
	const {run} = column.kernel;
	column.code.replaceChildren(...(group ? linesOf(group) : []).map((place) => {
		const [file, line] = place.split(':');
		return element('div', {class: 'mono'}, element('span', {}, line), element('span', {}, sourceLine(run, place) || file));
	}));
}

function whereOf(kernel, {group, live, finished}) {
	if (!group)
		return 'waiting';
	if (!live)
		return 'done';
	const name = kernel.launches.length > 1 ? `${group.kernel} \u00b7 ` : '';
	return `${name}block ${blockOf(group)} \u00b7 interval ${group.interval}${finished ? ' \u00b7 the last' : ''}`;
}

/* `when`: of what time the sums are, where that is not the interval. */
function drawWords(column, place, when) {
	const words = {load: 'read', store: 'written', atomic: 'added'};
	const now = place.live ? place.group : null, moving = now || {accesses: []};
	const hbm = sumsOf(moving, 'global'), chip = sumsOf(moving, 'shared');
	if (!when)
		setText(column.where, whereOf(column.kernel, place));
	/* They change with the group. */
	if (column.told === now)
		return;
	column.told = now;
	showFlow(column.hbm, hbm, words, when || 'in this interval'); /* all of it, while the bar above counts what moved so far */
	showFlow(column.chip, chip, words, when);
	drawPipe(column.fromHbm, hbm);
	drawPipe(column.toThreads, {load: hbm.load + chip.load, store: hbm.store + chip.store, atomic: hbm.atomic + chip.atomic});
	drawRegisters(column, hbm, chip);
	drawCode(column, now);
}

/* {node, build(kernels, width), move(placeOf), draw(placeOf)}; move paints and lays nothing out. inspect(kernel, tile) as makeTensorView has it. */
function makeStage(all, inspect) {
	const node = element('section', {class: 'stage', 'aria-label': 'Where the bytes move; tiles: arrow keys move among them'});
	const most = Math.max(...all.flatMap((kernel) => kernel.tensors.map((tensor) => tensor.columns)));
	let columns = [];
	makeRoving(node, '.tile', () => {}); /* each tells its story by its own focus */

	/* One scale for all that are shown: the widest matrix is as large as the fullest column has room for. */
	const widthOf = (tensor, big) =>
		tensor.columns === 1 ? 8 : Math.max(thinnest, Math.round(big * tensor.columns / most));
	const fullWidth = (kernel, big) => kernel.tensors.reduce((sum, tensor) => sum + widthOf(tensor, big) + gap, 0);
	const sizeFor = (kernels, rooms) => {
		let big = innerWidth <= 700 ? narrow : widest;
		while (big > narrowest && kernels.some((kernel, i) => fullWidth(kernel, big) > rooms[i]))
			big -= 4;
		return big;
	};
	/* A kernel with more to show gets a wider column, up to half as wide again. */
	const sharesOf = (kernels) => {
		const wanted = kernels.map((kernel) => fullWidth(kernel, 150)), least = Math.min(...wanted);
		return wanted.map((width) => Math.min(1.5, width / least));
	};

	const tensorCell = (column, big) => [element('div', {class: 'tensors'}, column.views.map((view) => {
		const {name, rows, columns: wide} = view.tensor, hasRoom = widthOf(view.tensor, big) >= 60;
		const shape = hasRoom ? element('small', {}, ` ${rows}\u00d7${wide}`) : '';
		return element('div', {class: 'tensor'},
			element('span', {class: 'label', title: `${name} [${rows}, ${wide}]`}, name, shape), view.node);
	})), column.hbm];
	/* A byte of shared memory is drawn larger than one of global memory, or it could not be seen: how much, and its true size. */
	const inset = (column, view, {big, room}) => {
		const tallest = Math.max(...column.kernel.tensors.map((tensor) => tensor.rows));
		const width = Math.min(view.width, room), zoom = Math.sqrt(width * 64 / view.array.bytes / (big * big / (4 * tallest * most)));
		const size = `width:${(width / zoom).toFixed(1)}px;height:${(64 / zoom).toFixed(1)}px`;
		return zoom < 1.15 ? '' : element('p', {class: 'inset small dim', 'data-zoom': zoom.toFixed(2)},
			element('i', {style: size, 'aria-hidden': 'true'}), ` ${bytes(view.array.bytes)}, zoomed \u00d7${figure(zoom, 2)}: the box is ` +
			'its size on the scale of global memory');
	};
	const sharedCell = (column, size) => [column.fromHbm, column.shared.length ? '' : element('p', {class: 'unused'}, 'not used'),
		column.shared.map((view) => [view.node, regionsOf(column.kernel, view), inset(column, view, size)]), column.chip];

	const build = (kernels, room, laneWidth) => {
		const shares = sharesOf(kernels), whole = shares.reduce((sum, share) => sum + share, 0);
		const rooms = shares.map((share) => (room - laneWidth) * share / whole - 36), big = sizeFor(kernels, rooms);
		readPalette();
		columns = kernels.map((kernel) => makeColumn(kernel, widthOf, big, inspect));
		const lane = (title, text, cell) => [
			element('div', {class: 'lane', 'data-lane': title}, element('h2', {}, title), element('p', {}, text)),
			columns.map((column, i) => element('div', {class: 'content', 'data-lane': title, 'data-kernel': column.kernel.name}, cell(column, i)))];
		const heads = columns.map((column) => element('div', {class: 'head', 'data-kernel': column.kernel.name},
			element('h2', ofKernel(column.kernel.name), column.kernel.label), column.where));
		node.style.setProperty('--columns', shares.map((share) => `minmax(0, ${share.toFixed(3)}fr)`).join(' '));
		node.replaceChildren(...[element('div', {class: 'corner'}), heads,
			lane('Global memory', 'large, far', (column) => tensorCell(column, big)),
			lane('Shared memory', 'of one block', (column, i) => sharedCell(column, {big, room: rooms[i]})),
			lane('Registers', 'of its threads', (column) => [column.toThreads, column.threads, column.own]),
			lane('Source', 'what moved it', (column) => column.code)].flat(2));
		node.querySelector('.tile').tabIndex = 0;
	};
	/* Dims what a caption does not speak of: other kernels, other lanes; without lanes, nothing. */
	const tell = (kernel, lanes) => [...node.children].forEach((cell) => {
		const {kernel: whose, lane} = cell.dataset, isOf = (!whose || whose === kernel.name) && (!lane || !lanes || lanes.includes(lane));
		cell.classList.toggle('dimmed', !!lanes && !isOf);
		cell.classList.toggle('told', cell.matches('.head') && whose === kernel.name);
	});
	const move = (placeOf) => columns.forEach((column) => advance(column, placeOf(column.kernel)));
	const draw = (placeOf) => {
		move(placeOf);
		columns.forEach((column) => drawWords(column, placeOf(column.kernel)));
	};
	return {node, build, tell, move, draw};
}
