/*
 * Step by step: FlashAttention on a run's first queries, over all keys. A step shows a tile of S, what it makes of m, l and O, and
 * what the queries' block moves: when a tile of keys comes in, while it is computed (the same for its steps S, m, P and o), at the end.
 * tiles.js computes it.
 */

const stepPace = 1500; /* milliseconds a step while it plays */

/* A number in a narrow cell. */
function brief(value) {
	const size = Math.abs(value);
	return !(size < 99950) ? figure(value, 2) : size >= 999.5 ? `${brief(value / 1000)}k`
		: value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0).replace('-', '\u2212');
}

/* Three rows of bars, as wide as there is room: q, k and their products. Their names are not in what is stretched. */
function drawDot(q, k, i, j) {
	const width = 400, high = 44, all = [[`row ${i} of Q`, q, 'past'], [`row ${j} of K`, k, 'past'], ['their products', q.map((x, c) => x * k[c]), 'now']];
	return element('div', {class: 'dot', role: 'img', 'aria-label': `Row ${i} of Q, row ${j} of K and their products, number by number`}, all.map(([name, values, kind]) => {
		const most = Math.max(...values.map(Math.abs), 1e-30), each = width / values.length, zero = high / 2;
		return [element('p', {class: 'small dim'}, name), element('svg', {class: 'chart', viewBox: `0 0 ${width} ${high}`, preserveAspectRatio: 'none', style: `height:${high}px`},
			element('line', {class: 'axis', x1: 0, x2: width, y1: zero, y2: zero}),
			values.map((value, c) => element('rect', {class: kind, x: c * each + 0.1 * each, width: 0.8 * each,
				y: value > 0 ? zero - zero * value / most : zero, height: Math.max(0.5, zero * Math.abs(value) / most)})))];
	}));
}

/* [title, text] of a step; `moved`: what its phase reads and writes, where the trace is known. */
function tellStep({kind, tile: t}, {tiles, shown, d, often}, values, N, moved, isWrong) { /* N: the keys that the last of these rows sees */
	const {first, wide, before, after} = tiles[t], from = values.first_row;
	const grew = after.flatMap((row, r) => t > 0 && row.m > before[r].m ? [from + r] : []);
	if (kind === 'query')
		return ['Q comes in', `The block reads its rows of Q once, ${count(moved.load)} bytes. ${values.rows} of these rows are followed here.`];
	if (kind === 'load')
		return [`Tile ${t} of 0\u2013${tiles.length - 1}: K and V come in`, `${count(moved.load)} bytes, ${keyRange(first, first + wide)}. ` +
			'No score has been computed from them yet.'];
	if (kind === 'score')
		return ['S = scale \u00b7 Q K\u1d40', `One score for each query and key of the tile; S has ${count(values.rows * wide)} of them here. The chosen one is worked out below.`];
	if (kind === 'maximum')
		return ['m = max(m, the row of S)', t === 0 ? 'The largest score of each row. Nothing was there before, so there is nothing to correct.'
			: grew.length === 0 ? 'No row has a larger score in this tile: m stays, and the correction is 1.'
			: `m grew in ${several(grew, 'row')}. l and o were computed with the old m: both are multiplied by e^(m old \u2212 m).`];
	if (kind === 'weights')
		return ['P = e^(S \u2212 m), l = l \u00b7 correction + the row sums of P', 'FlashAttention keeps S and P of this tile on the chip. Naive attention ' +
			'writes them to global memory and reads them again.'];
	if (kind === 'output')
		return ['o = o \u00b7 correction + P V', `Each row adds the tile\u2019s rows of V, multiplied by P. ${shown < d ? `${shown} of the ${d} columns are shown.` : ''}`];
	const once = often ? 'This kernel divides after every tile, which gives the same in the end. ' : 'The division comes once, after the last tile. ';
	return ['O = o / l', once + (values.keys < N ? `This page holds ${values.keys} of the run\u2019s ${N} keys: O is what these alone would give. The bytes are those of all keys.`
		: isWrong ? 'This is what a right kernel computes, not what this one wrote.' : 'This is the output.')];
}

const isComputed = ({kind}) => !/query|load/.test(kind);

/* S, or P once there is one: as numbers where there is room, P also as bars from 0; without room as bars alone. */
function tableOfTile(step, {tiles}, from, {i, j}) {
	const {first, wide, S, P} = tiles[step.tile], isP = /weights|output|divide/.test(step.kind), values = isP ? P : S, known = isComputed(step);
	const some = values.flat().filter(Number.isFinite), high = Math.max(...some, 0), low = Math.min(...some, 0), span = high - low || 1;
	const share = (part) => `${(100 * part / span).toFixed(1)}%`, hasRoom = innerWidth / (wide + 2) >= 36;
	const cell = (row, key) => {
		const value = values[row][key], isThis = row === i && key === j, name = `${isP ? 'P' : 'S'}[${from + row}, ${first + key}]`;
		const text = !known ? '' : value === null ? '\u2212\u221e' : brief(value);
		return element('td', {class: isThis ? 'now' : null, tabindex: isThis ? 0 : -1, 'data-at': `${row},${key}`,
			'aria-label': known ? `${name} = ${text}` : `${name}, not computed yet`},
		known && value !== null && (isP || !hasRoom) ? element('i', {style: `top:${share(high - Math.max(value, 0))};height:${share(Math.abs(value))}`}) : '',
		hasRoom ? element('span', {}, text) : '');
	};
	const isNamed = (key) => hasRoom || key % 8 === 0; /* a head stands over its column; those between have no room */
	return element('table', {class: `scores${hasRoom ? '' : ' bare'}`},
		element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, isP ? 'P' : 'S'),
			Array.from({length: wide}, (_, key) => isNamed(key) ? element('th', {scope: 'col', colspan: hasRoom ? null : Math.min(8, wide - key)}, String(first + key)) : ''))),
		element('tbody', {}, values.map((_, row) => element('tr', {}, element('th', {scope: 'row'}, String(from + row)),
			Array.from({length: wide}, (_, key) => cell(row, key))))));
}

/* m, l and o of each row, as they are at this step; what the step changed is marked. */
function tableOfRows({kind, tile: t}, {tiles, shown}, from) {
	const {before, after, corrections} = tiles[t], order = ['query', 'load', 'score', 'maximum', 'weights', 'output', 'divide'].indexOf(kind);
	const of = (step) => order >= step ? after : before, is = (...kinds) => kinds.includes(kind) ? 'now' : null;
	const names = [['query', null], ['m', is('maximum')], ['correction', is('maximum')], ['l', is('weights')],
		...Array.from({length: shown}, (_, c) => [`${kind === 'divide' ? 'O' : 'o'}[${c}]`, is('output', 'divide')])];
	const row = (_, i) => [from + i, figure(of(3)[i].m, 3), order >= 3 && before[i].m > -Infinity ? figure(corrections[i], 3) : '', figure(of(4)[i].l, 4),
		...of(5)[i].o.map((o) => figure(kind === 'divide' ? o / after[i].l : o, 3))];
	return element('table', {class: 'states'}, element('thead', {}, element('tr', {}, names.map(([name, mark]) => element('th', {scope: 'col', class: mark}, name)))),
		element('tbody', {}, after.map(row).map((cells) => element('tr', {}, cells.map((cell, c) => element('td', {class: names[c][1]}, String(cell)))))));
}

/* Whose bytes a phase has: "over the block's 4 query tiles, rows 0\u2013127 of Q", where only the page's few rows are followed. */
function queriesOf(kernel, {queries}) {
	const [tall] = kernel.described.tile || [queries.length], tiles = Math.ceil(queries.length / tall);
	return `${tiles > 1 ? `over ${tiles} query tiles of the block` : 'for the block\u2019s query tile'}, ${several(queries, 'row')} of Q`;
}

/* What the block of these queries moves: the tensors, its shared memory, the lines of source. */
function makeBlockTraffic({kernel, isCut}) {
	const column = makeColumn(kernel, (tensor) => tensor.columns === 1 ? 8 : innerWidth <= 700 ? 20 : 30, innerWidth <= 700 ? 64 : 96, null);
	const lane = (name, ...parts) => element('div', {}, element('h3', {}, name), parts), total = element('p', {class: 'small', 'data-total': ''});
	const node = element('section', {class: 'card block-traffic', 'aria-label': 'What the block moves'}, element('h2', {}, kernel.label, ': what the block of these rows moves'), total,
		lane('Global memory', element('div', {class: 'tensors'}, column.views.map((view) =>
			element('div', {class: 'tensor'}, element('span', {class: 'label'}, view.tensor.name), view.node))), column.hbm),
		lane('Shared memory', column.shared.map((view) => [view.node, regionsOf(kernel, view)]), column.chip), lane('Source', column.where, column.code));
	const draw = ({kind, phase}) => {
		const group = kernel.groups[phase], isTile = /score|maximum|weights|output/.test(kind), {intervals} = group;
		const place = {done: phase, group, live: true, finished: false, share: 1};
		const when = isTile ? 'in these four steps' : kind === 'divide' && isCut ? 'after this page\u2019s keys' : 'in this step';
		const moved = group.bytes ? `${count(group.bytes)} bytes` : 'no byte';
		advance(column, place);
		drawWords(column, place, when);
		setText(column.where, `block ${blockOf(group)} \u00b7 ${several(intervals, 'interval')}${isTile ? ', all four steps' : ''}`);
		setText(total, (isTile ? `While this tile of keys is computed, steps S, m, P and o together, ${queriesOf(kernel, group)}: ${moved} of global memory. By its end`
			: `${group.bytes ? '' : `No byte of global memory ${when}. `}So far`) + ` the block has moved ${count(group.end)} of ${count(kernel.total)} bytes.`);
	};
	return {node, draw};
}

function makeStepView() {
	const run = data.runs.find((one) => one.tile);
	if (!run)
		return null;
	const {causal, seq} = run.result.problem, values = {...run.tile, ...Object.fromEntries(['Q', 'K', 'V'].map((name) => [name, unpack(run.tile[name])]))};
	const found = tilesInTrace(run, values.first_row, values.Q.length / values.rows, values.keys);
	if (found)
		found.kernel.total = found.kernel.groups[found.kernel.groups.length - 1].end;
	const computed = computeTiles(values, causal, found), {steps, tiles, d} = computed, from = values.first_row;
	let step = 1, timer = 0, chosen = {i: 0, j: 0}, traffic = null;
	const scores = makeScroll('The tile of S'), rows = makeScroll('The state of each row'), dot = element('div', {class: 'stack column card dot-card'});
	const title = element('h2', {'data-title': ''}), text = element('p'), strip = element('div'), room = element('div'), heading = element('h3');
	const now = () => steps[step - 1], moved = () => found ? sumsOf(found.kernel.groups[now().phase], 'global') : null;
	const isWrong = run.result.kernels.some(({verified}) => !verified);
	const told = () => tellStep(now(), computed, values, causal ? Math.min(seq, values.keys) : seq, moved(), isWrong);
	const drawChosen = () => {
		const {first, S, wide} = tiles[now().tile], i = chosen.i, j = Math.min(chosen.j, wide - 1), s = S[i][j], at = `S[${from + i}, ${first + j}]`;
		dot.hidden = !isComputed(now());
		dot.replaceChildren(element('h3', {'data-score': ''}, s === null ? `${at} = \u2212\u221e` : `${at} = ${figure(s, 4)}`),
			element('p', {class: 'small dim'}, s === null ? `Key ${first + j} comes after query ${from + i}: the causal mask excludes it.`
				: `${figure(values.scale, 4)} \u00d7 the sum of ${d} products, ${figure(s / values.scale, 4)}. The arrow keys choose another score in the table.`),
			s === null ? '' : drawDot(rowAt(values.Q, i, d), rowAt(values.K, first + j, d), from + i, first + j));
	};
	const draw = () => {
		const {first, wide} = tiles[now().tile], hadFocus = scores.contains(document.activeElement) && document.activeElement !== scores;
		const isDone = now().kind === 'divide', keys = (a, b) => Array.from({length: b - a}, (_, k) => a + k);
		[title.textContent, text.textContent] = told();
		heading.textContent = `${several(keys(from, from + values.rows), 'row')} of Q, ${keyRange(first, first + wide)} of 0\u2013${values.keys - 1}`;
		strip.replaceChildren(makeSvg(960, 16, 'splits', `Keys ${first} to ${first + wide - 1} of ${values.keys} are this tile`,
			drawCells(values.keys, isDone ? [] : keys(first, first + wide), keys(0, isDone ? values.keys : first), 'load', {y: 1, height: 14, width: 960})));
		scores.replaceChildren(tableOfTile(now(), computed, from, {i: chosen.i, j: Math.min(chosen.j, wide - 1)}));
		if (hadFocus)
			scores.querySelector('[tabindex="0"]').focus({preventScroll: true});
		rows.replaceChildren(tableOfRows(now(), computed, from));
		drawChosen();
		if (traffic)
			traffic.draw(now());
		player.show(`step ${step} of ${steps.length}: ${title.textContent}`);
	};
	const stop = () => {
		clearTimeout(timer);
		timer = 0;
	};
	const moveTo = (to) => {
		step = Math.max(1, Math.min(steps.length, to));
		draw();
	};
	const set = (to) => {
		stop();
		moveTo(to);
		state.set({s: step > 1 ? step : null});
		say(told().join('. '));
	};
	makeRoving(scores, 'td', (cell) => {
		const [i, j] = cell.dataset.at.split(',').map(Number);
		chosen = {i, j};
		scores.querySelectorAll('td.now').forEach((other) => other.classList.remove('now'));
		cell.classList.add('now');
		drawChosen();
	});
	const next = () => setTimeout(() => {
		moveTo(step + 1);
		timer = step < steps.length ? next() : 0;
		if (!timer)
			set(step);
	}, stepPace);
	const play = () => {
		if (timer || isQuiet())
			return set(timer ? step : steps.length);
		step = step < steps.length ? step : 1;
		timer = next();
		draw();
	};
	const player = makePlayer({count: () => steps.length, value: () => step, set, play, isPlaying: () => timer !== 0}, 'Step');
	player.node.querySelector('.scrub').min = 1;
	const node = element('div', {class: 'stack', id: 'tile'}, player.node,
		isWrong ? element('p', {class: 'error'}, 'The kernel of this run failed. These numbers are those of a right one, from the same Q, K and V; what this one wrote stands in This run.') : '',
		element('div', {class: 'card stack column'}, element('div', {class: 'step-told'}, title, text), heading, strip, scores),
		element('div', {class: 'step-grid'}, rows, room, dot),
		element('p', {class: 'note'}, 'S, P, m, l and o are computed here in double precision from the run\u2019s own Q, K and V, first head. ' + (found
			? `The tiles, the bytes and the lines of source are the trace\u2019s, of the block of these queries in ${found.kernel.name}.`
			: `No traffic stands beside them: in this run no traced kernel has a block that loads K once, a tile at a time, and stores O. The tiles of ${ownTile} keys are this page\u2019s choice.`)));
	const again = () => {
		readPalette();
		traffic = found && makeBlockTraffic(found);
		room.replaceChildren(traffic ? traffic.node : '');
		draw();
	};
	const restore = () => {
		stop();
		step = Math.max(1, state.whole('s', steps.length, 1));
		again();
	};
	return {id: 'tile', name: 'Step by step', node, keys: ['s'], restore, key: player.key, stop, resized: again, themed: again};
}
