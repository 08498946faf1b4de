/*
 * A tile of S, computed number by number from the run's own Q and K, then taken into m, l and O: what FlashAttention does with
 * it, for the first queries and keys of the first head, eight of each at a time. Of O the first columns are shown.
 */

const tileSide = 8, tilePace = 90; /* rows and keys of a tile; milliseconds a step while it plays */

/* Row i of values that lie row by row. */
const rowAt = (values, i, length) => values.slice(i * length, (i + 1) * length);

/* A number in a narrow cell; on a telephone with one digit less from 1 on, so that neighbors stay apart. */
function brief(value) {
	const size = Math.abs(value), twoDigits = innerWidth <= 700 ? 0.995 : 9.995;
	return !(size < 99950) ? figure(value, 2) : size >= 999.5 ? `${brief(value / 1000)}k`
		: value.toFixed(size < twoDigits ? 2 : size < (innerWidth <= 700 ? 9.95 : 99.95) ? 1 : 0).replace('-', '\u2212');
}

/*
 * {tiles, steps}. A tile has S and P, [row][key], null where it is masked, and of each row m, l, o, the correction, and what they
 * were before. A step is {kind, tile, i, j}.
 */
function scoreTiles({first_row: from, rows, keys, scale, Q, K, V}, causal) {
	const d = Q.length / rows, shown = V.length / keys, tiles = [], steps = [];
	let state = Array.from({length: rows}, () => ({m: -Infinity, l: 0, o: Array(shown).fill(0)}));
	for (let first = 0; first < keys; first += tileSide) {
		const wide = Math.min(tileSide, keys - first), before = state, t = tiles.length;
		const S = before.map((_, i) => Array.from({length: wide}, (_, j) => causal && first + j > from + i ? null
			: scale * rowAt(Q, i, d).reduce((sum, q, c) => sum + q * K[(first + j) * d + c], 0)));
		const m = before.map((row, i) => Math.max(row.m, ...S[i].filter((s) => s !== null)));
		const corrections = before.map((row, i) => row.m === -Infinity ? 0 : Math.exp(row.m - m[i]));
		const P = S.map((row, i) => row.map((s) => s === null ? 0 : Math.exp(s - m[i])));
		state = before.map((row, i) => ({m: m[i], l: row.l * corrections[i] + P[i].reduce((sum, p) => sum + p, 0),
			o: row.o.map((o, c) => o * corrections[i] + P[i].reduce((sum, p, j) => sum + p * V[(first + j) * shown + c], 0))}));
		tiles.push({first, wide, S, P, before, after: state, corrections});
		for (let i = 0; i < rows; i++)
			for (let j = 0; j < wide; j++)
				steps.push({kind: 'score', tile: t, i, j});
		steps.push({kind: 'maximum', tile: t}, {kind: 'weights', tile: t}, {kind: 'output', tile: t});
	}
	steps.push({kind: 'divide', tile: tiles.length - 1});
	return {tiles, steps, d, shown};
}

/* Three rows of bars: q, k and their products. */
function drawDot(q, k, i, j) {
	const width = 400, high = 44, all = [[`row ${i} of Q`, q, 'past'], [`row ${j} of K`, k, 'past'], ['their products', q.map((x, c) => x * k[c]), 'now']];
	const parts = all.flatMap(([name, values, kind], n) => {
		const y = 18 + n * (high + 22), most = Math.max(...values.map(Math.abs), 1e-30), each = width / values.length, zero = y + high / 2;
		return [element('text', {x: 0, y: y - 4}, name), element('line', {class: 'axis', x1: 0, x2: width, y1: zero, y2: zero}),
			...values.map((value, c) => element('rect', {class: kind, x: c * each + 0.1 * each, width: 0.8 * each,
				y: value > 0 ? zero - high / 2 * value / most : zero, height: Math.max(0.5, high / 2 * Math.abs(value) / most)}))];
	});
	return makeSvg(width, 3 * (high + 22), 'dot', `Row ${i} of Q, row ${j} of K and their products, number by number`, parts);
}

/* [title, text] of a step. */
function tellScore({kind, tile: t, i, j}, {tiles, d}, values, N) {
	const from = values.first_row, {first, S, before, after} = tiles[t];
	const grew = after.flatMap((row, r) => t > 0 && row.m > before[r].m ? [from + r] : []), at = `S[${from + i}, ${first + j}]`;
	if (kind === 'score' && S[i][j] === null)
		return [`${at} = \u2212\u221e`, `Key ${first + j} comes after query ${from + i}: the causal mask takes it out, whatever the product is.`];
	if (kind === 'score')
		return [`${at} = ${figure(S[i][j], 4)}`, `${figure(values.scale, 4)} \u00d7 the sum of ${d} products, ${figure(S[i][j] / values.scale, 4)}.`];
	if (kind === 'maximum')
		return ['m = max(m, the row of S)', t === 0 ? 'The largest score of each row. Nothing was there before, so there is nothing to correct.'
			: grew.length === 0 ? 'No row has a larger score in this tile: m stays, and the correction is 1.'
			: `In ${several(grew, 'row')} this tile has a larger score. What l and o hold was weighed with the old m: both are multiplied by e^(m old \u2212 m).`];
	if (kind === 'weights')
		return ['P = e^(S \u2212 m)', 'The scores become weights where they stand, and l grows by the sum of each row. S is not needed any more: FlashAttention ' +
			'keeps this tile on the chip, naive attention writes it to global memory and reads it again.'];
	if (kind === 'output')
		return ['o = o \u00b7 correction + P V', `Each row takes in the tile\u2019s rows of V, weighed. ${values.V.length / values.keys} of the ${plural(d, 'column')} are shown.`];
	return ['O = o / l', values.keys < N ? `The division comes once, after the last tile. Here after ${values.keys} keys; the run goes on to key ${N - 1}.`
		: 'The division comes once, after the last tile: this is the output.'];
}

/* S, or P once there is one: what is computed up to this step. */
function tableOfScores({kind, tile: t, i, j}, {tiles}, from, onCell) {
	const {first, wide, S, P} = tiles[t], isP = kind !== 'score' && kind !== 'maximum';
	const cell = (row, key) => {
		const known = kind !== 'score' || row < i || (row === i && key <= j), now = kind === 'score' && row === i && key === j;
		const value = isP ? P[row][key] : S[row][key];
		return element('td', {class: now ? 'now' : known ? null : 'later', onclick: () => onCell(t, row, key)},
			!known ? '\u00b7' : value === null ? '\u2212\u221e' : brief(value));
	};
	return element('table', {class: 'scores'},
		element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, isP ? 'P' : 'S'),
			Array.from({length: wide}, (_, key) => element('th', {scope: 'col', class: kind === 'score' && key === j ? 'now' : null}, String(first + key))))),
		element('tbody', {}, S.map((_, row) => element('tr', {}, element('th', {scope: 'row', class: kind === 'score' && row === i ? 'now' : null}, String(from + row)),
			Array.from({length: wide}, (_, key) => cell(row, key))))));
}

/* m, l and o of each row, as they are at this step. */
function tableOfRows({kind, tile: t}, {tiles, shown}, from) {
	const {before, after, corrections} = tiles[t], order = ['score', 'maximum', 'weights', 'output', 'divide'].indexOf(kind);
	const names = ['query', 'm', 'correction', 'l', ...Array.from({length: shown}, (_, c) => `${kind === 'divide' ? 'O' : 'o'}[${c}]`)];
	const row = (_, i) => [from + i, figure((order >= 1 ? after : before)[i].m, 3), order >= 1 && before[i].m > -Infinity ? figure(corrections[i], 3) : '',
		figure((order >= 2 ? after : before)[i].l, 4),
		...(order >= 3 ? after : before)[i].o.map((o) => figure(kind === 'divide' ? o / after[i].l : o, 3))];
	return element('table', {class: 'states'}, element('thead', {}, element('tr', {}, names.map((name) => element('th', {scope: 'col'}, name)))),
		element('tbody', {}, after.map(row).map((cells) => element('tr', {}, cells.map((cell) => element('td', {}, String(cell)))))));
}

function makeTileView() {
	const run = data.runs.find((one) => one.tile);
	if (!run)
		return null;
	const {tile: values} = run, {causal, seq} = run.result.problem, computed = scoreTiles(values, causal), {steps, tiles, d} = computed;
	let step = 1, timer = 0;
	const scores = makeScroll('The tile of S'), side = element('div', {class: 'stack column card dot-card'}), rows = makeScroll('The state of each row');
	const heading = element('h2'), draw = () => {
		const now = steps[step - 1], {first, wide} = tiles[now.tile], [title, text] = tellScore(now, computed, values, seq);
		heading.textContent = `${values.rows === 1 ? 'Query 0' : `Queries ${values.first_row}\u2013${values.first_row + values.rows - 1}`}, ${keyRange(first, first + wide)}`;
		scores.replaceChildren(tableOfScores(now, computed, values.first_row, toCell));
		side.replaceChildren(element('h2', {'data-title': ''}, title), element('p', {}, text), now.kind === 'score' && tiles[now.tile].S[now.i][now.j] !== null
			? drawDot(rowAt(values.Q, now.i, d), rowAt(values.K, first + now.j, d), values.first_row + now.i, first + now.j) : '');
		rows.replaceChildren(tableOfRows(now, computed, values.first_row));
		player.show(`step ${step} of ${steps.length}: ${title}`);
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
		say(tellScore(steps[step - 1], computed, values, seq).join('. '));
	};
	const toCell = (t, i, j) => set(steps.findIndex((one) => one.kind === 'score' && one.tile === t && one.i === i && one.j === j) + 1);
	/* What takes a whole tile in is read, and stays longer. */
	const next = () => setTimeout(() => {
		moveTo(step + 1);
		timer = step < steps.length ? next() : 0;
		if (!timer)
			set(step);
	}, steps[step - 1].kind === 'score' ? tilePace : 2500);
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
		element('div', {class: 'softmax-grid'}, element('div', {class: 'stack column card'}, heading, scores), side), rows,
		element('p', {class: 'note'}, `The run\u2019s own Q, K and V, its first head, in double precision; tiles of ${tileSide} \u00d7 ${tileSide}, so that the numbers have room. ` +
			'A kernel computes many of them at once.'));
	const restore = () => {
		stop();
		moveTo(state.whole('s', steps.length, 1));
	};
	return {id: 'tile', name: 'A tile of S', node, keys: ['s'], restore, key: player.key, stop, resized: draw, themed: () => {}};
}
