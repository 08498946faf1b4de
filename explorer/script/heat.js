/* Where an output is wrong: its tiles as a heat map, the first wrong one ringed, and what is around an element. */

/* [b, h, i, j] of a flat row and a column. */
function coordinatesOf(map, row, column) {
	const at = [];
	let rest = row * map.columns + column;
	for (const size of [...map.shape].reverse()) {
		at.unshift(rest % size);
		rest = Math.floor(rest / size);
	}
	return at;
}

function elementName(map, row, column) {
	return `${map.tensor}[${coordinatesOf(map, row, column).join(', ')}]`;
}

/* "head [0, 1]", or "" for a tensor that is one matrix. */
function matrixName(map, matrix) {
	if (map.matrices === 1 && map.shape.length < 3)
		return '';
	const isStatistic = map.columns === 1 && map.shape[map.shape.length - 1] !== 1;
	const at = coordinatesOf(map, matrix * map.rows, 0).slice(0, isStatistic ? -1 : -2);
	return `head [${at.join(', ')}]`;
}

function tileName(map, index) {
	const tiles = map.grid_rows * map.grid_columns, matrix = Math.floor(index / tiles), inside = index % tiles;
	const top = Math.floor(inside / map.grid_columns) * map.tile_rows, bottom = Math.min(top + map.tile_rows, map.rows) - 1;
	const left = inside % map.grid_columns * map.tile_columns, right = Math.min(left + map.tile_columns, map.columns) - 1;
	return [matrixName(map, matrix), `rows ${top}\u2013${bottom}`, map.columns > 1 ? `columns ${left}\u2013${right}` : '']
		.filter(Boolean).join(', ');
}

const isWrong = (ratio) => !(ratio <= 1); /* NaN is wrong; -1, not checked, is not */

function tileText(map, index, ratio) {
	const says = ratio === -1 ? 'not checked' : Number.isNaN(ratio) ? 'WRONG, not a number'
		: isWrong(ratio) ? `WRONG, error ${figure(ratio, 3)} times the tolerance`
			: `right, error ${figure(ratio, 2)} of the tolerance`;
	return `${tileName(map, index)}: ${says}`;
}

/* Right is pale green; wrong is crimson, stronger with the error, and carries a cross: not only a color. */
function strengthOf(ratio) {
	return !isWrong(ratio) ? 30 + 45 * Math.sqrt(Math.max(0, ratio))
		: Number.isFinite(ratio) ? Math.min(100, 66 + 8.5 * Math.log10(ratio)) : 100;
}

function tileFill(ratio) {
	return ratio === -1 ? 'fill:var(--faint)'
		: `fill:color-mix(in srgb, var(--${isWrong(ratio) ? 'wrong' : 'right'}) ${Math.round(strengthOf(ratio))}%, var(--ground))`;
}

/* One matrix of the output. */
function makeHeatMatrix(map, ratios, matrix, size, tell) {
	const tiles = map.grid_rows * map.grid_columns, {wide, tall} = size, parts = [], rings = [];
	for (let i = 0; i < tiles; i++) {
		const index = matrix * tiles + i, ratio = ratios[index], text = tileText(map, index, ratio);
		const x = i % map.grid_columns * wide, y = Math.floor(i / map.grid_columns) * tall;
		const isFirst = map.first_wrong === index;
		parts.push(element('rect', {class: 'tile', x, y, width: wide, height: tall, style: tileFill(ratio), 'data-tile': index,
			'data-wrong': ratio === -1 ? null : String(isWrong(ratio)), 'data-first': isFirst ? 'yes' : null,
			tabindex: index === 0 ? 0 : -1, 'aria-label': text, role: 'img', onpointerenter: () => tell(text)},
		element('title', {}, text)));
		if (isWrong(ratio) && wide >= 12 && tall >= 12)
			parts.push(element('text', {class: strengthOf(ratio) > 72 ? 'on' : null, x: x + wide / 2, y: y + tall / 2 + 3.5, 'text-anchor': 'middle'}, '\u2717'));
		if (isFirst)
			rings.push(element('rect', {class: 'ring', x: x + 1, y: y + 1, width: wide - 2, height: tall - 2}));
	}
	const wrong = ratios.slice(matrix * tiles, (matrix + 1) * tiles).filter(isWrong).length;
	const width = map.grid_columns * wide, height = map.grid_rows * tall;
	const svg = element('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'group',
		'aria-label': `${map.tensor} ${matrixName(map, matrix)} of ${map.kernel}: ${wrong} of ${tiles} tiles are wrong`}, parts, rings);
	return element('figure', {}, svg, map.matrices > 1 ? element('figcaption', {}, matrixName(map, matrix)) : '');
}

function makeHeat(map, ratios) {
	const fit = (least, most, all, n) => Math.max(least, Math.min(most, Math.floor(all / n)));
	const tall = fit(9, 26, 300, map.grid_rows);
	const wide = map.grid_columns === 1 ? Math.max(tall, 26) : fit(9, 34, 340, map.grid_columns);
	const caption = element('p', {class: 'small dim', 'aria-live': 'polite'}, '\u00a0');
	const figures = Array.from({length: map.matrices}, (_, matrix) =>
		makeHeatMatrix(map, ratios, matrix, {wide, tall}, (text) => { caption.textContent = text; }));
	const heat = watchEnd(element('div', {class: 'heat'}, figures));
	makeRoving(heat, '.tile', (tile) => { caption.textContent = tile.getAttribute('aria-label'); });
	return element('div', {}, heat, caption);
}

/* What came out above, what should have below. */
function makeWindow(map, around) {
	const row = (actual, r) => {
		const cells = actual.map((got, c) => {
			const wrong = around.wrong[r][c], expected = number(around.expected[r][c]);
			const here = around.first_row + r === around.row && around.first_column + c === around.column;
			return element('td', {class: [wrong && 'bad', here && 'here'].filter(Boolean).join(' ') || null},
				(wrong ? '\u2717\u00a0' : '') + figure(number(got), 4),
				element('small', {}, Number.isNaN(expected) ? '\u2013' : figure(expected, 4)));
		});
		return element('tr', {}, element('th', {scope: 'row'}, `row ${(around.first_row + r) % map.rows}`), cells);
	};
	const heads = around.actual[0].map((_, c) => element('th', {scope: 'col'}, String(around.first_column + c)));
	return makeScroll(`Around ${elementName(map, around.row, around.column)} of ${map.kernel}${around === map.first ? ', the first' : ''}`, element('table', {class: 'around'},
		element('thead', {}, element('tr', {}, element('td'), heads)), element('tbody', {}, around.actual.map(row))));
}

/* {name, got, expected} of the element in the middle of a window. */
function middleOf(map, around) {
	const r = around.row - around.first_row, c = around.column - around.first_column;
	return {name: elementName(map, around.row, around.column), got: number(around.actual[r][c]),
		expected: number(around.expected[r][c])};
}
