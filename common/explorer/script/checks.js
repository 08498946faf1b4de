/* What one run found: verdicts, where an output is wrong, counts against closed forms, hazards. */

/* The page of `make explorer` has several runs, all of them verified: it shows none of this. */
function makeChecksView() {
	if (data.runs.length !== 1)
		return null;
	const run = data.runs[0], result = run.result;

	const badge = (kernel) => kernel.skipped ? element('span', {class: 'badge skipped'}, '\u2013 skipped')
		: kernel.verified ? element('span', {class: 'badge right'}, '\u2713 verified') : element('span', {class: 'badge wrong'}, '\u2717 FAILED');

	/* ---- where an output is wrong ---- */

	/* [b, h, i, j] of a flat row and a column. */
	const coordinates = (map, row, column) => {
		const at = [];
		let rest = row * map.columns + column;
		for (const size of [...map.shape].reverse()) {
			at.unshift(rest % size);
			rest = Math.floor(rest / size);
		}
		return at;
	};
	const nameOf = (map, row, column) => `${map.tensor}[${coordinates(map, row, column).join(', ')}]`;

	/* Right is green to faint; wrong is vermilion, darker with the error; both carry a sign, not only a colour. */
	const fillOf = (ratio) => {
		if (ratio === -1)
			return 'fill:var(--faint)';
		if (ratio <= 1)
			return `fill:color-mix(in srgb, var(--right) ${Math.round(8 + 30 * ratio)}%, var(--ground))`;
		const share = Number.isFinite(ratio) ? Math.min(1, 0.45 + Math.log10(ratio) / 8) : 1;
		return `fill:color-mix(in srgb, var(--wrong) ${Math.round(100 * share)}%, var(--ground))`;
	};

	const tileName = (map, index) => {
		const perMatrix = map.grid_rows * map.grid_columns, matrix = Math.floor(index / perMatrix), within = index % perMatrix;
		const top = Math.floor(within / map.grid_columns) * map.tile_rows, left = within % map.grid_columns * map.tile_columns;
		const bottom = Math.min(top + map.tile_rows, map.rows) - 1, right = Math.min(left + map.tile_columns, map.columns) - 1;
		const where = map.shape.slice(0, map.columns === 1 && map.shape[map.shape.length - 1] !== 1 ? -1 : -2);
		let rest = matrix;
		const head = [...where].reverse().map((size) => { const at = rest % size; rest = Math.floor(rest / size); return at; }).reverse();
		return (head.length ? `head [${head.join(', ')}], ` : '') + `rows ${top}\u2013${bottom}` + (map.columns > 1 ? `, columns ${left}\u2013${right}` : '');
	};

	const heat = (map) => {
		const ratios = map.ratios.map(number), perMatrix = map.grid_rows * map.grid_columns;
		const room = ratios.every((ratio) => ratio <= 1) ? 0.5 : 1; /* what is right needs less */
		const tall = Math.max(room * 9, Math.min(room * 26, Math.floor(room * 300 / map.grid_rows)));
		const wide = map.grid_columns === 1 ? Math.max(tall, 26) : Math.max(room * 9, Math.min(room * 34, Math.floor(room * 340 / map.grid_columns)));
		const caption = element('p', {class: 'small dim', 'aria-live': 'polite'}, ' ');
		const figures = [];
		for (let matrix = 0; matrix < map.matrices; matrix++) {
			const parts = [], rings = [];
			for (let i = 0; i < perMatrix; i++) {
				const index = matrix * perMatrix + i, ratio = ratios[index];
				const x = i % map.grid_columns * wide, y = Math.floor(i / map.grid_columns) * tall;
				const first = map.first_wrong === index;
				const text = `${tileName(map, index)}: ` + (ratio === -1 ? 'not checked' : ratio <= 1 ? `right, error ${figure(ratio, 2)} of the tolerance`
					: Number.isNaN(ratio) ? 'WRONG, not a number' : `WRONG, error ${figure(ratio, 3)} times the tolerance`);
				parts.push(element('rect', {class: 'tile', x, y, width: wide, height: tall, style: fillOf(ratio), 'data-tile': index,
					'data-wrong': ratio === -1 ? null : String(!(ratio <= 1)), 'data-first': first ? 'yes' : null,
					onpointerenter: () => { caption.textContent = text; }}, element('title', {}, text)));
				if (!(ratio <= 1) && wide >= 12 && tall >= 12)
					parts.push(element('text', {x: x + wide / 2, y: y + tall / 2 + 3.5, 'text-anchor': 'middle'}, '\u2717'));
				if (first)
					rings.push(element('rect', {class: 'ring', x: x + 1, y: y + 1, width: wide - 2, height: tall - 2}));
			}
			const width = map.grid_columns * wide, height = map.grid_rows * tall;
			const wrong = ratios.slice(matrix * perMatrix, (matrix + 1) * perMatrix).filter((ratio) => !(ratio <= 1)).length;
			figures.push(element('figure', {}, element('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
				'aria-label': `${map.tensor}: ${wrong} of ${perMatrix} tiles are wrong`}, parts, rings),
				map.matrices > 1 ? element('figcaption', {}, tileName(map, matrix * perMatrix).split(',').slice(0, -1).join(',').replace(/, rows.*/, '')) : ''));
		}
		return {node: element('div', {class: 'heat', tabindex: map.matrices > 3 ? 0 : null}, figures), caption};
	};

	const windowTable = (map, around, title) => {
		const rows = around.actual.map((actual, r) => {
			const row = around.first_row + r;
			return element('tr', {}, element('th', {scope: 'row'}, `row ${row % map.rows}`), actual.map((got, c) => {
				const value = number(got), expected = number(around.expected[r][c]), column = around.first_column + c;
				const off = around.wrong[r][c];
				const here = row === around.row && column === around.column;
				return element('td', {class: [off ? 'bad' : '', here ? 'here' : ''].join(' ').trim()}, (off ? '\u2717\u00a0' : '') + figure(value, 4),
					element('small', {}, Number.isNaN(expected) ? '\u2013' : figure(expected, 4)));
			}));
		});
		const head = element('tr', {}, element('th', {}), around.actual[0].map((_, c) => element('th', {scope: 'col'}, String(around.first_column + c))));
		return element('div', {class: 'scroll'}, element('table', {class: 'around'},
			element('caption', {}, title), element('thead', {}, head), element('tbody', {}, rows)));
	};

	const at = (around) => {
		const r = around.row - around.first_row, c = around.column - around.first_column;
		return {got: number(around.actual[r][c]), expected: number(around.expected[r][c])};
	};

	const output = (map) => {
		const ratios = map.ratios.map(number), wrong = ratios.filter((ratio) => !(ratio <= 1)).length, checked = ratios.filter((ratio) => ratio !== -1).length;
		const {node, caption} = heat(map), texts = [];
		if (wrong) {
			const first = at(map.first);
			texts.push(element('p', {}, element('b', {class: 'error'}, `${count(wrong)} of ${plural(checked, 'tile')} wrong. `),
				'The first, ringed: ', element('b', {'data-name': 'first-tile'}, tileName(map, map.first_wrong)), '.'),
			element('p', {}, element('code', {}, nameOf(map, map.first.row, map.first.column)), ` is ${figure(first.got, 7)}, expected ${figure(first.expected, 7)}.`),
			windowTable(map, map.first, 'Around it: above what came out, below what the double-precision reference says'));
			if (map.worst.row !== map.first.row || map.worst.column !== map.first.column) {
				const worst = at(map.worst);
				texts.push(element('details', {}, element('summary', {}, `The worst, ${nameOf(map, map.worst.row, map.worst.column)}: ${figure(worst.got, 5)}, ` +
					`expected ${figure(worst.expected, 5)}`), windowTable(map, map.worst, 'Around the worst element')));
			}
		} else {
			const worst = at(map.worst);
			texts.push(element('p', {}, `All ${plural(checked, 'tile')} right. `, element('span', {class: 'dim'},
				`Worst: ${nameOf(map, map.worst.row, map.worst.column)} = ${figure(worst.got, 7)}, expected ${figure(worst.expected, 7)}; ` +
				`error ${figure(number(map.worst_error), 2)}, tolerance ${figure(number(map.worst_tolerance), 2)}.`)),
			element('details', {}, element('summary', {}, 'What stands around it'), windowTable(map, map.worst, 'Above what came out, below the reference')));
		}
		return element('section', {'data-output': map.tensor, 'aria-label': `Output ${map.tensor}`},
			element('h3', {style: 'margin-bottom:8px'}, `${map.tensor} `, element('span', {class: 'dim small'}, `[${map.shape.join(', ')}], tiles of ${map.tile_rows} \u00d7 ${map.tile_columns}`)),
			element('div', {class: 'output'}, element('div', {}, node, caption), element('div', {class: 'stack', style: 'gap:10px'}, texts)));
	};

	/* ---- counts against closed forms ---- */
	const counts = (kernel, described) => {
		const models = [kernel.model, kernel.model_requested, kernel.model_footprint].filter(Boolean);
		if (models.length === 0 || described.measured.length === 0)
			return '';
		const rows = models.map((model, i) => {
			const got = described.measured[i], equal = got.read_elements === model.read_elements && got.write_elements === model.write_elements;
			return element('tr', {'data-equal': String(equal)}, element('td', {}, model.counts, ' ', element('code', {class: 'dim'}, model.formula)),
				element('td', {}, count(model.elements)), element('td', {}, count(got.read_elements + got.write_elements)),
				element('td', {}, element('span', {class: equal ? '' : 'error'}, equal ? '\u2713 equal' : `\u2717 ${count(Math.abs(got.read_elements + got.write_elements - model.elements))} ` +
					(got.read_elements + got.write_elements > model.elements ? 'too many' : 'too few'))));
		});
		return element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, element('tr', {},
			['elements through HBM', 'closed form', 'counted', ''].map((name) => element('th', {scope: 'col'}, name)))), element('tbody', {}, rows)));
	};

	/* ---- hazards ---- */
	const place = (thread) => thread ? `thread (${[].concat(thread).join(', ')})` : '';
	const snippet = (file, line) => {
		const text = line && sourceLine(run, (file || '').split('/').pop(), line);
		return text ? element('pre', {class: 'mono'}, `${file.split('/').pop()}:${line}  ${text}`) : line ? element('p', {class: 'mono'}, `${file}:${line}`) : '';
	};
	const kinds = {RAW: 'Race: read after write', WAR: 'Race: write after read', WAW: 'Race: two writes'};
	const hazardList = () => [list(run.hazards.slice(0, 4)), run.hazards.length <= 4 ? '' : element('details', {style: 'margin-top:12px'},
		element('summary', {style: 'margin-bottom:12px'}, `${run.hazards.length - 4} more`), list(run.hazards.slice(4)))];
	const list = (hazards) => element('ul', {class: 'hazards'}, hazards.map((hazard) => element('li', {'data-tool': hazard.tool},
		element('p', {}, element('b', {}, kinds[hazard.kind] || hazard.kind.replaceAll('-', ' ').replaceAll('_', ' ')), ` \u00b7 ${hazard.tool} \u00b7 ${hazard.severity} \u00b7 ${hazard.kernel || 'host'}` +
			(hazard.block ? `, block (${[].concat(hazard.block).join(', ')})` : '') + (hazard.thread ? `, ${place(hazard.thread)}` : '') +
			(hazard.count > 1 ? `, ${count(hazard.count)} times` : '')),
		hazard.array ? element('p', {class: 'dim small'}, `${hazard.space || ''} ${hazard.array}` + (hazard.index !== undefined && hazard.index !== null ? `, element ${hazard.index}` : '')) : '',
		snippet(hazard.file, hazard.line),
		hazard.other && hazard.other.line ? [element('p', {class: 'dim small'}, `against ${hazard.other.op || 'an access'} by ${place(hazard.other.thread)}`),
			snippet(hazard.file, hazard.other.line)] : '')));

	/* ---- the page ---- */
	const failed = result.kernels.filter((kernel) => !kernel.verified && !kernel.skipped).length;
	const ran = result.kernels.filter((kernel) => !kernel.skipped).length;
	const cards = result.kernels.map((kernel, i) => {
		const described = run.kernels[i];
		return element('section', {class: 'card', 'data-kernel': kernel.name, 'aria-label': kernel.name},
			element('div', {class: 'kernel-head'}, element('h2', {}, kernel.name), badge(kernel), element('span', {class: 'dim'}, described.summary)),
			kernel.skipped ? element('p', {class: 'note'}, kernel.skipped) : element('div', {class: 'kernel-body'},
				kernel.failure ? element('p', {class: 'error'}, kernel.failure) : '', described.maps.map(output), counts(kernel, described)));
	});
	/* What is wrong comes first. */
	const order = result.kernels.map((_, i) => i).sort((a, b) => (result.kernels[a].verified - result.kernels[b].verified) || a - b);
	const node = element('div', {class: 'stack', id: 'checks'},
		element('p', {}, failed ? element('b', {class: 'error'}, `${failed} of ${plural(ran, 'kernel')} failed.`)
			: element('b', {style: 'color:var(--right)'}, ran === 1 ? 'The kernel is right: ' : `All ${ran} kernels are right: `),
		failed ? '' : 'outputs within tolerance of the double-precision reference, counts equal to their closed forms, no hazards.'),
		run.hazards.length ? element('section', {class: 'card', 'aria-label': 'Hazards'}, element('h2', {style: 'margin-bottom:10px'}, plural(run.hazards.length, 'hazard')), hazardList()) : '',
		order.map((i) => cards[i]),
		run.no_trace ? element('p', {class: 'note'}, `No picture of the memory traffic: ${run.no_trace}`) : '');
	return {id: 'checks', name: 'This run', node, restore: () => {}, key: () => {}, stop: () => {}, resized: () => {}, themed: () => {}, keys: []};
}
