/* Online softmax: the recurrence step by step, beside the standard softmax, and without its correction. */

const sameValues = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);
const textOfValues = (values) => values.map((v) => v === -Infinity ? '-inf' : String(Number(v.toPrecision(6)))).join(', ');

/* What may be chosen: the rows of runs with a trace, then two that show something. Empty: no run has one. */
function softmaxPresets() {
	const runs = data.runs.filter((run) => run.result.trace).map((run) => {
		const {problem, x} = run.result, name = problem.values ? 'by hand' : problem.load ? 'a row of real scores' : 'this run';
		return {name, run, values: x.map((value) => fround(number(value))), width: problem.block};
	});
	return runs.length === 0 ? [] : [...runs,
		{name: 'rising: m moves every time', values: [0, 1, 2, 3, 4, 5, 6, 7], width: 1},
		{name: 'masked: \u2212inf', values: [-Infinity, -Infinity, 2, 1, -Infinity, 3], width: 2}];
}

/* Behind a sign: "(\u22128.807)", "2". */
const inBrackets = (text) => text.startsWith('\u2212') ? `(${text})` : text;

/* One step's lines: maximum, correction, sum, and what the weights add up to. */
function equationsOf(now, right, total, forget) {
	const exp = (power) => [element('em', {}, 'e'), element('sup', {}, power)];
	const big = (name, text) => element('b', {'data-name': name}, text);
	const line = (what, ...how) => element('div', {class: 'equation'}, element('span', {class: 'what'}, what),
		element('span', {class: 'how'}, how));
	const lines = [
		line('maximum m', now.before.m === now.m ? 'stays ' : `${figure(now.before.m, 4)} \u2192 `, big('m', figure(now.m))),
		line('correction', exp(`${figure(now.before.m, 4)} \u2212 ${inBrackets(figure(now.m, 4))}`), ' = ',
			big('correction', figure(now.correction, 4)), forget ? ' \u2014 forgotten' : ''),
		line('sum l', `${figure(now.before.l, 5)} \u00d7 ${forget ? '1' : figure(now.correction, 4)} + ${figure(now.added, 5)} = `,
			big('l', figure(now.l, 6))),
		line('output, not divided', `${figure(now.before.o, 4)} \u00d7 ${forget ? '1' : figure(now.correction, 4)} ${now.addedO < 0 ? '\u2212' : '+'} ` +
			`${figure(Math.abs(now.addedO), 4)} = `, big('o', figure(now.o, 5))),
		line('output O', `${figure(now.o, 5)} / ${figure(now.l, 5)} = `, big('output', figure(now.o / now.l, 5))),
		line('weights sum to', big('total', figure(total, 6)), forget ? ' instead of 1' : ''),
	];
	if (forget && Math.abs(now.l - right.l) > 1e-6 * right.l)
		lines.slice(2).forEach((node) => node.classList.add('wrong'));
	return lines;
}

/*
 * The recurrence, its terms lit as they act in this step, one after the other: a maximum that grew, a correction that is not 1
 * (struck out where it is forgotten), what the block adds, the division at the end.
 */
function makeFormula(now, isLast, forget) {
	const grew = now && now.m > now.before.m, corrects = now && now.before.l > 0 && now.correction < 1;
	const term = (name, lit, order, ...parts) => element('span', {class: `term${lit ? ' lit' : ''}`, 'data-term': name,
		style: lit ? `animation-delay:${0.35 * order}s` : null}, parts);
	const exp = (power) => ['e', element('sup', {}, power)], sum = (v) => ['\u03a3 ', exp('x \u2212 m'), v ? ' v' : ''];
	const correction = (order) => forget ? element('s', {}, term('forgotten', corrects, order, ' \u00b7 ', exp('m old \u2212 m')))
		: term('correction', corrects, order, ' \u00b7 ', exp('m old \u2212 m'));
	const row = (name, ...parts) => element('div', {}, element('b', {}, name), ' \u2190 ', parts);
	return element('div', {class: 'formula', role: 'group', 'aria-label': 'The recurrence'},
		row('m', term('maximum', grew, 0, 'max(m, x)')),
		row('l', 'l', correction(1), ' + ', term('sum', !!now, 2, sum(false))),
		row('o', 'o', correction(3), ' + ', term('output', !!now, 4, sum(true))),
		row('O', term('divide', isLast, 5, 'o / l'), element('span', {class: 'dim small'}, ' once, after the last block')),
		element('p', {class: 'small dim'}, !now ? 'Nothing acts yet.' : corrects ? forget
			? 'm grew, and the correction was left out: what l and o hold was weighed with the old m.'
			: 'm grew: what l and o hold was weighed with the old m, so both are corrected.'
			: 'The correction is 1: m did not grow, or nothing was there to correct.'));
}

/* At the end: how far the weights are from the standard softmax's. */
function verdictOf(got, standard, forget, digits) {
	const difference = Math.max(...got.map((weight, i) => Math.abs(weight - standard.weights[i])));
	if (!forget)
		return `The largest weight is off by ${figure(difference, 2)}: rounding${digits ? ` of the run\u2019s numbers to ${digits} digits` : ''}.`;
	return difference > 1e-6 ? element('span', {class: 'error'}, `Without the correction a weight is off by ${figure(difference, 3)}.`)
		: 'Here forgetting it does no harm: the maximum never grew after the first block.';
}

/* Twelve updates around the step. */
function tableOfUpdates(updates, step, forget) {
	const from = Math.max(0, Math.min(step - 6, updates.length - 12));
	const row = (update, i) => {
		const kind = i === step - 1 ? 'now' : i >= step ? 'later' : null, last = update.end - 1;
		const cells = [i, update.first === last ? last : `${update.first}\u2013${last}`, figure(update.blockMax), figure(update.m),
			forget ? 1 : figure(update.correction, 4), figure(update.l, 6)];
		return element('tr', {class: kind}, cells.map((cell, column) => element('td',
			{class: column === 3 && update.m > update.before.m ? 'up' : null}, String(cell))));
	};
	const heads = ['block', 'values', 'its max', 'm', 'correction', 'l'].map((name) => element('th', {scope: 'col'}, name));
	return element('table', {class: 'updates'}, element('thead', {}, element('tr', {}, heads)),
		element('tbody', {}, updates.slice(from, from + 12).map((update, i) => row(update, from + i))));
}

function makeSoftmaxView() {
	const presets = softmaxPresets();
	if (presets.length === 0)
		return null;
	let values = [], column = [], width = 1, step = 0, forget = false, source = null, right = [], wrong = [], standard = null;

	/* A run's own numbers where the values are the run's, fp32 again: nine digits are not; otherwise this page computes them. */
	const compute = () => {
		if (column.length !== values.length)
			column = Array.from(someColumn(values.length), (some, j) => column[j] ?? some);
		right = onlineUpdates(values, column, width, false);
		wrong = onlineUpdates(values, column, width, true);
		standard = standardSoftmax(values, column);
		source = presets.find((preset) => preset.run && preset.width === width && sameValues(preset.values, values));
		(source ? source.run.result.trace : []).forEach(({m, l, correction}, i) =>
			Object.assign(right[i], {m: fround(number(m)), l: fround(number(l)), correction: fround(number(correction))}));
		step = Math.min(step, right.length);
	};
	const remember = () => {
		const chosen = presets.findIndex((preset) => sameValues(preset.values, values)), preset = presets[chosen];
		state.set({x: preset ? null : textOfValues(values).replaceAll(' ', ''), p: chosen > 0 ? chosen : null,
			b: preset && width === preset.width ? null : width, s: step, forget: forget ? 1 : null,
			v: sameValues(column, someColumn(column.length)) ? null : textOfValues(column).replaceAll(' ', '')});
	};

	/* ---- input ---- */
	const error = element('p', {class: 'error small', role: 'alert', id: 'softmax-error'});
	const field = element('input', {type: 'text', id: 'values', 'aria-describedby': 'softmax-error', autocomplete: 'off',
		spellcheck: 'false'});
	const columnField = element('input', {type: 'text', id: 'column', 'aria-describedby': 'softmax-error', autocomplete: 'off', spellcheck: 'false'});
	const widthField = element('input', {type: 'number', id: 'block', min: 1, max: mostValues, step: 1});
	const toggle = element('input', {type: 'checkbox', id: 'forget', onchange: () => change({forget: toggle.checked})});
	const chips = presets.map((preset) => element('button', {type: 'button', class: 'chip', onclick: () => {
		step = 1;
		change({values: preset.values, width: preset.width, column: someColumn(preset.values.length)});
		fill();
	}}, preset.name));

	const change = (to) => {
		values = to.values ?? values;
		column = to.column ?? column;
		width = to.width ?? width;
		forget = to.forget ?? forget;
		compute();
		remember();
		draw();
	};
	const complain = (badValues, badWidth) => {
		field.setAttribute('aria-invalid', !!badValues);
		widthField.setAttribute('aria-invalid', badWidth);
		error.textContent = badValues || (badWidth ? `Block: expected a whole number from 1 to ${mostValues}.` : '');
	};
	const fill = () => {
		field.value = textOfValues(values);
		columnField.value = textOfValues(column);
		widthField.value = width;
		complain('', false);
	};
	const edited = () => {
		const parsed = parseValues(field.value), typed = Number(widthField.value), v = parseValues(columnField.value);
		const finite = !v.error && v.values.every(Number.isFinite);
		columnField.setAttribute('aria-invalid', !finite);
		complain(parsed.error || (finite ? '' : 'V: expected finite numbers.'), !Number.isInteger(typed) || typed < 1 || typed > mostValues);
		/* A long row is shown rounded: what was not touched stays exact. */
		if (!error.textContent)
			change({values: field.value === textOfValues(values) ? values : parsed.values, width: typed,
				column: columnField.value === textOfValues(column) ? column : v.values});
	};
	field.addEventListener('input', edited);
	columnField.addEventListener('input', edited);
	widthField.addEventListener('input', edited);

	/* ---- output ---- */
	const chart = element('div'), weights = element('div'), products = element('div'), formula = element('div'), equations = element('div', {class: 'equations'});
	const table = makeScroll('Updates'), clock = element('p', {class: 'clock'});
	const player = makePlayer({count: () => right.length, value: () => step, set: (to) => {
		step = Math.max(0, Math.min(right.length, to));
		change({});
		say(sentence());
	}}, 'Block');

	const current = () => step > 0 ? (forget ? wrong : right)[step - 1] : null;
	const sentence = () => {
		const now = current();
		return now ? `Block ${step - 1} of 0\u2013${right.length - 1}: m is ${figure(now.m)}, correction ` +
			`${forget ? 'forgotten' : figure(now.correction, 4)}, l is ${figure(now.l, 6)}, O is ${figure(now.o / now.l, 5)}` : 'Nothing read yet';
	};
	const draw = () => {
		const now = current(), weight = (v, i) => now && i < now.end && now.l > 0 ? weigh(v, now.m) / now.l : 0;
		const got = values.map(weight), total = got.reduce((sum, v) => sum + v, 0);
		chart.replaceChildren(drawRow(values, now));
		weights.replaceChildren(drawWeights(got, standard.weights, forget));
		products.replaceChildren(drawValues(column, got, now && now.l > 0 ? now.o / now.l : NaN, standard.output, forget));
		formula.replaceChildren(makeFormula(now, step === right.length, forget));
		table.replaceChildren(tableOfUpdates(forget ? wrong : right, step, forget));
		equations.replaceChildren(...(now ? equationsOf(now, right[step - 1], total, forget)
			: [element('p', {class: 'dim'}, 'Nothing has been read yet: m = \u2212\u221e, l = 0. Step on to read the first block.')]),
		element('p', {class: 'small dim'}, 'Standard softmax, which reads the row twice first: m = ',
			element('b', {}, figure(standard.m)), ', l = ', element('b', {}, figure(standard.l, 6)), ', O = ',
			element('b', {'data-name': 'expected'}, figure(standard.output, 5)), '. ',
			step === right.length ? verdictOf(got, standard, forget, source && source.run.digits) : ''));
		toggle.checked = forget;
		node.classList.toggle('off', forget);
		chips.forEach((chip, i) => chip.setAttribute('aria-pressed', sameValues(presets[i].values, values)));
		clock.replaceChildren(step > 0 ? `Block ${step - 1} of 0\u2013${right.length - 1}. ` : 'Before the first block. ',
			...source && !forget ? ['m, l and the correction are those of the run ', element('code', {}, source.run.command), '.']
				: ['Computed in this page, in fp32.']);
		player.show(sentence());
	};

	/* A first look shows something: the second block, whose maximum may have grown. */
	const restore = () => {
		const preset = presets[state.whole('p', presets.length - 1, 0)], typed = parseValues(state.get('x') || '');
		values = typed.values || preset.values;
		column = parseValues(state.get('v') || '').values || someColumn(values.length);
		width = Math.max(1, state.whole('b', mostValues, preset.width));
		forget = state.get('forget') === '1';
		step = state.whole('s', values.length, 2);
		compute();
		fill();
		draw();
	};

	const section = (label, ...parts) => element('section', {class: 'stack column', 'aria-label': label}, parts);
	const legendOf = (...entries) => element('p', {class: 'legend'}, entries.map(([swatch, text]) => element('span', {}, element('i', {class: swatch}), text)));
	const ownSwatch = 'swatch-load swatch-online'; /* as the bars, which turn crimson where the correction is forgotten */
	const node = element('div', {class: 'stack', id: 'softmax'},
		element('section', {class: 'card stack', 'aria-label': 'Input'},
			element('div', {class: 'softmax-top'}, element('label', {for: 'values'}, 'A row of scores', field),
				element('label', {for: 'column'}, 'V, one column', columnField),
				element('label', {for: 'block'}, 'Block', widthField)), error,
			element('div', {class: 'softmax-options'}, element('div', {class: 'chips'}, chips),
				element('label', {class: 'switch', for: 'forget'}, toggle, 'Forget the correction'))),
		element('div', {}, player.node, clock),
		element('div', {class: 'softmax-grid'},
			section('Picture', element('h2', {}, 'The row, block by block'), chart,
				element('h2', {}, 'The weights, if it ended here'), weights,
				legendOf([ownSwatch, 'online, so far'], ['swatch-outline', 'standard softmax of the whole row']),
				element('h2', {}, 'V, as it is weighed, and O'), products,
				legendOf([ownSwatch, 'V, as it is weighed so far'], ['swatch-output', 'O, so far'], ['swatch-dashed', 'O of the standard softmax'])),
			section('Numbers', element('div', {class: 'card'}, formula), element('div', {class: 'card'}, equations), table)));
	return {id: 'softmax', name: 'Online softmax', node, restore, key: player.key, stop: () => {}, resized: draw, themed: () => {},
		keys: ['s', 'x', 'v', 'p', 'b', 'forget']};
}
