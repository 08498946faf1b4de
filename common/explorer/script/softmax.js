/*
 * The online softmax, update by update, in fp32 as the kernel computes it: m the largest value so far, l the sum of
 * exp(x - m) so far, and the correction exp(m_old - m) that l is multiplied by when m grew.
 */

const fround = Math.fround;

/* exp(x - m), 0 where nothing has been seen: as the kernels' weight(). */
function weigh(x, m) {
	return m === -Infinity ? 0 : fround(Math.exp(fround(x - m)));
}

/* [{first, end, blockMax, m, before, correction, added, l}], without the correction where it is forgotten. */
function onlineUpdates(values, width, forget) {
	const updates = [];
	let m = -Infinity, l = 0;
	for (let first = 0; first < values.length; first += width) {
		const part = values.slice(first, first + width), before = {m, l};
		const blockMax = Math.max(...part);
		m = Math.max(m, blockMax);
		const correction = weigh(before.m, m);
		const added = part.reduce((sum, x) => fround(sum + weigh(x, m)), 0);
		l = fround(fround((forget ? 1 : correction) * before.l) + added);
		updates.push({first, end: first + part.length, blockMax, m, before, correction, added, l});
	}
	return updates;
}

/* Two passes over all values, in double. */
function standardSoftmax(values) {
	const m = Math.max(...values);
	const l = m === -Infinity ? 0 : values.reduce((sum, x) => sum + Math.exp(x - m), 0);
	return {m, l, weights: values.map((x) => l > 0 ? Math.exp(x - m) / l : 0)};
}

/* The values of a text, or {error}: one line that says what is wrong and what was expected. */
function parseValues(text) {
	const parts = text.trim().replace(/[,\s]+$/, '').split(/[,\s]+/);
	const values = [];
	if (text.trim() === '')
		return {error: 'No values. Write numbers, or -inf, between commas: 1, 2, 3.'};
	for (const [i, part] of parts.entries()) {
		const word = part.replaceAll('\u2212', '-').replaceAll('\u221e', 'inf');
		const value = /^-inf(inity)?$/i.test(word) ? -Infinity : /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(word) ? fround(Number(word)) : NaN;
		if (Number.isNaN(value) || value === Infinity || (value === -Infinity && /\d/.test(word)))
			return {error: `Value ${i + 1}, \u201c${part.slice(0, 20)}\u201d: expected a number that fits fp32, or -inf.`};
		values.push(value);
	}
	return values.length > 4096 ? {error: `${values.length} values: at most 4096 fit this page.`} : {values};
}

function makeSoftmaxView() {
	const runs = data.runs.filter((run) => run.result.trace).map((run) => {
		return {run, values: run.result.x.map((v) => fround(number(v))), width: run.result.problem.block,
			name: run.result.problem.values ? 'by hand' : run.result.problem.load ? 'a row of real scores' : 'this run'};
	});
	if (runs.length === 0)
		return null;
	const presets = [...runs.map((made) => ({name: made.name, values: made.values, width: made.width})),
		{name: 'rising: m moves every time', values: [0, 1, 2, 3, 4, 5, 6, 7], width: 1},
		{name: 'masked: \u2212inf', values: [-Infinity, -Infinity, 2, 1, -Infinity, 3], width: 2}];
	const textOf = (values) => values.map((v) => v === -Infinity ? '-inf' : String(Number(v.toPrecision(6)))).join(', ');

	let values = runs[0].values, width = runs[0].width, step = 0, forget = false, source = runs[0], right = [], wrong = [], standard = null;

	/* A run's own numbers where the values are the run's; otherwise this page computes them. */
	const prepare = () => {
		right = onlineUpdates(values, width, false);
		wrong = onlineUpdates(values, width, true);
		standard = standardSoftmax(values);
		source = runs.find((made) => made.width === width && made.values.length === values.length && made.values.every((v, i) => v === values[i]));
		if (source)
			source.run.result.trace.forEach((update, i) => Object.assign(right[i], {m: number(update.m), l: number(update.l), correction: number(update.correction)}));
	};

	const error = element('p', {class: 'error small', role: 'alert', id: 'softmax-error'});
	const field = element('input', {type: 'text', id: 'values', 'aria-describedby': 'softmax-error', autocomplete: 'off', spellcheck: 'false'});
	const widthField = element('input', {type: 'number', id: 'block', min: 1, max: 4096, step: 1});
	const edited = () => {
		const parsed = parseValues(field.value), w = Number(widthField.value);
		const badWidth = !Number.isInteger(w) || w < 1;
		field.setAttribute('aria-invalid', !!parsed.error);
		widthField.setAttribute('aria-invalid', badWidth);
		error.textContent = parsed.error || (badWidth ? 'Block: expected a whole number from 1.' : '');
		if (error.textContent)
			return;
		/* A long row is shown rounded: what was not touched stays exact. */
		values = field.value === textOf(values) ? values : parsed.values;
		width = w;
		prepare();
		step = Math.min(step, right.length);
		remember();
		draw();
	};
	field.addEventListener('input', edited);
	widthField.addEventListener('input', edited);
	const choose = (preset) => {
		({values, width} = preset);
		step = Math.min(1, Math.ceil(values.length / width));
		fill();
		remember();
		draw();
	};
	const fill = () => {
		field.value = textOf(values);
		widthField.value = width;
		field.setAttribute('aria-invalid', false);
		error.textContent = '';
		prepare();
	};
	const chips = presets.map((preset) => element('button', {type: 'button', class: 'chip', onclick: () => choose(preset)}, preset.name));
	const toggle = element('input', {type: 'checkbox', id: 'forget', onchange: () => {
		forget = toggle.checked;
		remember();
		draw();
	}});

	const remember = () => {
		const preset = presets.findIndex((p) => p.values.length === values.length && p.values.every((v, i) => v === values[i]));
		state.set({x: preset < 0 ? textOf(values).replaceAll(' ', '') : null, p: preset > 0 ? preset : null,
			b: width === (preset >= 0 ? presets[preset].width : 0) ? null : width, s: step, forget: forget ? 1 : null});
	};

	const player = makePlayer({count: () => right.length, value: () => step, set: (to) => {
		step = Math.max(0, Math.min(right.length, to));
		remember();
		draw();
		say(sentence());
	}}, 'Block');
	const clock = element('p', {class: 'clock'});

	/* ---- pictures ---- */
	const chart = element('div', {}), weights = element('div', {}), equations = element('div', {class: 'equations'}), table = element('div', {class: 'scroll'});

	const updates = () => forget ? wrong : right;

	const drawChart = (now) => {
		const W = innerWidth <= 700 ? 400 : 720, H = 250, left = 8, rightEdge = W - 74, top = 26, bottom = H - 34;
		const finite = values.filter(Number.isFinite), many = values.length > 40;
		const high = Math.max(...finite, 0), low = Math.min(...finite, 0), span = high - low || 1;
		const y = (v) => top + (bottom - top) * (high - v) / span;
		const each = (rightEdge - left) / values.length, pad = many ? 0 : Math.min(6, each * 0.15);
		const parts = [];
		values.forEach((v, i) => {
			const kind = !now ? 'later' : i >= now.end ? 'later' : i >= now.first ? 'now' : 'past', x = left + i * each;
			if (v === -Infinity) {
				if (!many)
					parts.push(element('text', {x: x + each / 2, y: y(0) - 5, 'text-anchor': 'middle'}, '\u2212\u221e'));
				return;
			}
			const tip = Math.min(y(v), y(0)), tall = Math.max(Math.abs(y(v) - y(0)), 1.5);
			parts.push(element('rect', {class: kind, x: x + pad, y: tip, width: Math.max(each - 2 * pad, 0.6), height: tall, rx: many ? 0 : 3,
				...(many && kind === 'later' ? {style: 'stroke:none'} : {})}));
			if (!many)
				parts.push(element('text', {class: 'value', x: x + each / 2, y: v >= 0 ? tip - 6 : tip + tall + 15, 'text-anchor': 'middle'}, figure(v, 3)));
		});
		parts.push(element('line', {class: 'axis', x1: left, x2: rightEdge, y1: y(0), y2: y(0)}));
		if (now) {
			const from = left + now.first * each, to = left + now.end * each;
			parts.push(element('path', {d: `M${from + 2} ${H - 12}v5H${to - 2}v-5`, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5}));
			const line = (value, name, text, shift) => Number.isFinite(value) && parts.push(
				element('line', {class: name, x1: left, x2: rightEdge + 4, y1: y(value), y2: y(value)}),
				element('text', {class: 'tag', x: rightEdge + 8, y: y(value) + shift}, text));
			if (now.before.m !== now.m)
				line(now.before.m, 'before', 'before', 4);
			line(now.m, 'maximum', `m = ${figure(now.m, 4)}`, 4);
		}
		chart.replaceChildren(element('svg', {class: 'chart bars', viewBox: `0 0 ${W} ${H}`, role: 'img',
			'aria-label': now ? `Values ${now.first} to ${now.end - 1} of ${values.length} are the current block` : `${values.length} values`}, parts));
	};

	/* The weights if the row ended here, beside the softmax of the whole row. */
	const drawWeights = (now) => {
		const W = innerWidth <= 700 ? 400 : 720, H = 170, left = 8, rightEdge = W - 74, bottom = H - 8, top = 12;
		const got = values.map((v, i) => now && i < now.end && now.l > 0 ? weigh(v, now.m) / now.l : 0);
		const high = Math.max(...standard.weights, ...got, 1e-9), each = (rightEdge - left) / values.length, many = values.length > 40;
		const pad = many ? 0 : Math.min(6, each * 0.15), parts = [];
		values.forEach((_, i) => {
			const x = left + i * each + pad, w = Math.max(each - 2 * pad, 0.8), y = (v) => bottom - (bottom - top) * v / high;
			const filled = got[i] > 0 && element('rect', {class: 'online' + (forget ? ' off' : ''), y: y(got[i]), height: bottom - y(got[i]),
				...(many ? {x, width: w} : {x: x + w * 0.12, width: w * 0.76})});
			const outline = standard.weights[i] > 0 && element('path', {class: 'standard', d: `M${x} ${bottom}V${y(standard.weights[i])}h${w}V${bottom}`,
				...(many ? {style: 'stroke-width:0.8'} : {})});
			/* Thin bars would drown under their outlines. */
			parts.push(...(many ? [outline, filled] : [filled, outline]).filter(Boolean));
		});
		parts.push(element('line', {class: 'axis', x1: left, x2: rightEdge, y1: bottom, y2: bottom}));
		weights.replaceChildren(element('svg', {class: 'chart weights', viewBox: `0 0 ${W} ${H}`, role: 'img',
			'aria-label': 'Weights: filled as the online softmax has them now, outlined as the standard softmax gives them'}, parts));
		return got;
	};

	const equation = (what, ...how) => element('div', {class: 'equation'}, element('span', {class: 'what'}, what), element('span', {class: 'how'}, how));
	const exp = (power) => [element('em', {}, 'e'), element('sup', {}, power)];
	const big = (text, name) => element('b', {'data-name': name}, text);

	const drawEquations = (now, got) => {
		const total = got.reduce((sum, v) => sum + v, 0), end = step === right.length;
		const difference = Math.max(...got.map((v, i) => Math.abs(v - standard.weights[i])));
		const rows = now ? [
			equation('maximum m', now.before.m === now.m ? 'stays ' : `${figure(now.before.m, 4)} \u2192 `, big(figure(now.m), 'm')),
			equation('correction', exp(`${figure(now.before.m, 4)} \u2212 ${figure(now.m, 4)}`), ' = ', big(figure(now.correction, 4), 'correction'),
				forget ? ' \u2014 forgotten' : ''),
			equation('sum l', `${figure(now.before.l, 5)} \u00d7 ${forget ? '1' : figure(now.correction, 4)} + ${figure(now.added, 5)} = `, big(figure(now.l, 6), 'l')),
			equation('weights sum to', big(figure(total, 6), 'total'), !forget ? '' : ' instead of 1'),
		] : [element('p', {class: 'dim'}, 'Nothing has been read yet: m = \u2212\u221e, l = 0. Step on to read the first block.')];
		if (forget && now && Math.abs(now.l - right[step - 1].l) > 1e-6 * right[step - 1].l)
			rows[2].classList.add('wrong'), rows[3].classList.add('wrong');
		rows.push(element('p', {class: 'small dim'}, 'Standard softmax, which reads the row twice first: m = ', element('b', {}, figure(standard.m)),
			', l = ', element('b', {}, figure(standard.l, 6)), '. ',
			end && !forget ? `The largest weight is off by ${figure(difference, 2)}: rounding.` : '',
			end && forget && difference > 1e-6 ? element('span', {class: 'error'}, `Without the correction a weight is off by ${figure(difference, 3)}.`) : '',
			end && forget && difference <= 1e-6 ? 'Here forgetting it does no harm: the maximum never grew after the first block.' : ''));
		equations.replaceChildren(...rows);
	};

	const drawTable = () => {
		const list = updates(), from = Math.max(0, Math.min(step - 6, list.length - 12));
		const rows = list.slice(from, from + 12).map((update, i) => element('tr', {class: from + i === step - 1 ? 'now' : from + i >= step ? 'later' : ''},
			element('td', {}, String(from + i)), element('td', {}, update.end - update.first === 1 ? String(update.first) : `${update.first}\u2013${update.end - 1}`),
			element('td', {}, figure(update.blockMax)), element('td', {class: update.m > update.before.m ? 'up' : ''}, figure(update.m)),
			element('td', {}, forget ? '1' : figure(update.correction, 4)), element('td', {}, figure(update.l, 6))));
		table.replaceChildren(element('table', {class: 'updates'}, element('thead', {}, element('tr', {},
			['block', 'values', 'its max', 'm', 'correction', 'l'].map((name) => element('th', {scope: 'col'}, name)))), element('tbody', {}, rows)));
	};

	const sentence = () => {
		const now = step > 0 ? updates()[step - 1] : null;
		return now ? `Block ${step} of ${right.length}: m is ${figure(now.m)}, correction ${forget ? 'forgotten' : figure(now.correction, 4)}, l is ${figure(now.l, 6)}`
			: 'Nothing read yet';
	};

	const draw = () => {
		const now = step > 0 ? updates()[step - 1] : null;
		drawChart(now);
		drawEquations(now, drawWeights(now));
		drawTable();
		toggle.checked = forget;
		chips.forEach((chip, i) => chip.setAttribute('aria-pressed', presets[i].values.length === values.length && presets[i].values.every((v, j) => v === values[j])));
		clock.textContent = `Block ${step} of ${right.length}. ` + (source && !forget ? 'These numbers are the run\u2019s own.' : 'Computed in this page, in fp32.');
		player.show(sentence());
	};

	const restore = () => {
		const preset = presets[state.whole('p', presets.length - 1, 0)], typed = state.get('x') && parseValues(state.get('x'));
		({values, width} = preset);
		if (typed && typed.values)
			values = typed.values;
		width = Math.max(1, state.whole('b', 4096, width));
		forget = state.get('forget') === '1';
		fill();
		/* A first look shows something: the second block, whose maximum may have grown. */
		step = state.whole('s', right.length, Math.min(2, right.length));
		draw();
	};

	const node = element('div', {class: 'stack', id: 'softmax'},
		element('section', {class: 'card stack', style: 'gap:12px', 'aria-label': 'Input'},
			element('div', {class: 'softmax-top'}, element('label', {for: 'values'}, 'A row of scores', field), element('label', {for: 'block'}, 'Block', widthField)),
			error, element('div', {class: 'softmax-options'}, element('div', {class: 'chips'}, chips),
				element('label', {class: 'switch', for: 'forget'}, toggle, 'Forget the correction'))),
		element('div', {}, player.node, clock),
		element('div', {class: 'softmax-grid'},
			element('section', {class: 'stack', style: 'gap:8px;align-content:start', 'aria-label': 'Picture'}, element('h2', {}, 'The row, block by block'), chart,
				element('h2', {}, 'The weights, if it ended here'), weights,
				element('p', {class: 'legend'}, element('span', {}, element('i', {class: 'swatch-load'}), 'online, so far'),
					element('span', {}, element('i', {style: 'border:1.5px solid currentColor'}), 'standard softmax of the whole row'))),
			element('section', {class: 'stack', style: 'align-content:start', 'aria-label': 'Numbers'}, element('div', {class: 'card'}, equations), table)));
	return {id: 'softmax', name: 'Online softmax', node, restore, key: player.key, stop: () => {}, resized: () => draw(), themed: () => {}, keys: ['s', 'x', 'p', 'b', 'forget']};
}
