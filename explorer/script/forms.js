/* Closed forms under sliders. data.forms says which: sums of products, [[4, "N", "N", "d"], ...], in elements. */

function evaluateTerms(terms, values) {
	return terms.reduce((sum, [factor, ...names]) => sum + names.reduce((product, name) =>
		name.startsWith('1/') ? product / values[name.slice(2)] : product * values[name], factor), 0);
}

function makeForms(forms, kernels) {
	const traced = forms.problem, values = {...traced};
	const rows = element('div', {class: 'form-rows'}), verdict = element('p', {class: 'verdict', 'aria-live': 'off'});
	const outputs = {}, fits = element('p', {class: 'small dim'}), race = makeSizesRace(forms.rows, forms.race);
	const sliders = forms.order.map((name) => {
		const choices = forms.sliders[name];
		outputs[name] = element('output', {}, String(values[name]));
		const moved = () => {
			values[name] = choices[Number(slider.value)];
			draw(true);
		};
		const slider = element('input', {type: 'range', min: 0, max: choices.length - 1, step: 1,
			value: choices.indexOf(values[name]), 'aria-label': forms.names[name], oninput: moved});
		slider.dataset.name = name;
		return [slider, element('label', {}, element('span', {title: forms.names[name]}, name), slider, outputs[name])];
	});
	const reset = element('button', {type: 'button', class: 'button', onclick: () => {
		Object.assign(values, traced);
		for (const [slider] of sliders)
			slider.value = forms.sliders[slider.dataset.name].indexOf(values[slider.dataset.name]);
		draw();
	}}, 'Back to the traced run');

	/* What was counted, where the sliders stand at the run. */
	const counted = (row) => {
		const kernel = kernels.find((candidate) => candidate.name === row.kernel);
		const at = kernel && [kernel.result.model, kernel.result.model_requested, kernel.result.model_footprint].filter(Boolean)
			.findIndex((model) => model.counts === row.counts);
		const measured = kernel && kernel.described.measured[at];
		return measured ? measured.read_elements + measured.write_elements : null;
	};
	const draw = (moved) => {
		values.Tr = Math.ceil(values.N / values.Br);
		values.Tc = Math.ceil(values.N / values.Bc);
		const isRun = Object.keys(traced).every((name) => traced[name] === values[name]);
		const elements = forms.rows.map((row) => evaluateTerms(row.terms, values));
		const most = Math.max(...elements);
		const {aside} = forms, requested = evaluateTerms(aside.terms, values);
		const equal = isRun && forms.rows.every((row, i) => counted(row) === elements[i]) && counted(aside) === requested;
		rows.replaceChildren(...forms.rows.map((row, i) => {
			return element('div', {class: 'form-row'},
				element('span', {}, row.label, ' ', element('code', {}, row.formula)),
				element('div', {class: 'bar', 'aria-hidden': 'true'},
					element('i', {class: 'own', style: `width:${100 * elements[i] / most}%;${ownColor(row.kernel)}`})),
				element('output', {title: count(elements[i]) + ' elements'}, bytes(4 * elements[i])));
		}));
		const asked = evaluateTerms(forms.shared.terms, values), {what, limit: room, device} = forms.shared;
		fits.textContent = asked > room
			? `Does not fit: ${what} are ${bytes(asked)}, a block of an ${device} has ${bytes(room)} (${room / 1024} KiB).`
			: `${what} are ${bytes(asked)} of shared memory; a block of an ${device} has ${bytes(room)} (${room / 1024} KiB). ` +
				`A tile of S is ${bytes(4 * values.Br * values.Bc)}, all of S would be ${bytes(4 * values.N * values.N)}.`;
		fits.className = asked > room ? 'error' : 'small dim';
		fits.dataset.fits = asked <= room;
		race.set(elements, moved);
		for (const [name, output] of Object.entries(outputs))
			output.textContent = count(values[name]);
		for (const [slider] of sliders)
			slider.setAttribute('aria-valuetext', `${count(values[slider.dataset.name])} ${forms.names[slider.dataset.name]}`);
		const saving = elements[forms.saving.of] / elements[forms.saving.over];
		const ceiling = evaluateTerms(forms.saving.ceiling, values);
		const [before, after] = (saving < 1 ? forms.saving.loss : forms.saving.text).split('{}');
		/* A ceiling where Br > d; otherwise the saving falls to it. */
		const limit = saving < ceiling ? 'However long the sequence, that stays under'
			: saving > ceiling ? 'The longer the sequence, the nearer the saving falls to' : 'For every longer sequence, too, that is';
		verdict.replaceChildren(before, element('b', {}, `${figure(saving < 1 ? 1 / saving : saving, 3)}\u00d7`), after + ' ',
			element('span', {class: 'dim'}, `${limit} ${forms.saving.formula} = ${figure(ceiling, 3)}\u00d7. `),
			element('span', {class: 'dim', 'data-aside': ''}, aside.text.replace('{bytes}', bytes(4 * requested)).replace('{times}',
				`${figure(requested / elements[forms.saving.over], 3)}\u00d7`).replace('{formula}', aside.formula)));
		if (isRun)
			verdict.append(element('span', {class: equal ? 'dim' : 'error'}, equal
				? ' The sliders stand at the traced run: it counted exactly these elements.'
				: ' The sliders stand at the traced run, which counted something else.'));
		verdict.dataset.equal = equal;
	};
	draw();
	return element('section', {class: 'card forms-card', 'aria-label': 'Closed forms'},
		element('h2', {}, 'Change the tiles'),
		element('p', {class: 'note'}, forms.note),
		element('div', {class: 'forms', style: 'margin-top:14px'},
			element('div', {class: 'sliders'}, sliders.map(([, label]) => label), reset),
			element('div', {class: 'stack column'}, rows, fits, verdict, race.node)));
}
