/* "Predict first": a guess of each kernel's bytes before it plays, shown beside the truth afterwards. */

/* "4.5 MB", "110k", "82,176", "1e6": bytes, or null. */
function parseBytes(text) {
	/* Commas, blanks and apostrophes group three digits; "1,5" would else be 15. */
	const found = /^\s*(\d{1,3}(?:[,' ]\d{3})+(?:\.\d*)?|\d+\.?\d*(?:e\+?\d+)?|\.\d+)\s*([kmg]?)(i?)b?(?:ytes)?\s*$/i.exec(text);
	if (!found)
		return null;
	const power = {'': 0, k: 1, m: 2, g: 3}[found[2].toLowerCase()];
	const value = Number(found[1].replace(/[,' ]/g, '')) * (found[3] ? 1024 : 1000) ** power;
	return Number.isFinite(value) ? Math.round(value) : null;
}

/* done(guesses) gets a map from the kernel's name to bytes; empty when it was skipped. */
function makePrediction(kernels, question, done) {
	const error = element('p', {class: 'error small', role: 'alert'});
	const inputs = kernels.map((kernel) => element('input', {
		type: 'text', inputmode: 'text', autocomplete: 'off', placeholder: 'bytes, kB or MB', name: kernel.name}));
	const finish = (event) => {
		event.preventDefault();
		const guesses = new Map();
		error.textContent = '';
		inputs.forEach((input, i) => {
			const value = parseBytes(input.value);
			const bad = input.value.trim() !== '' && value === null;
			input.setAttribute('aria-invalid', bad);
			if (bad)
				error.textContent = `\u201c${input.value.trim()}\u201d is no number of bytes. Write it as 3000, 3 kB or 0.003 MB.`;
			else if (value !== null)
				guesses.set(kernels[i].name, value);
		});
		if (!error.textContent)
			done(guesses);
	};
	return element('form', {class: 'card predict', onsubmit: finish},
		element('div', {}, element('h2', {}, 'Predict first'),
			element('p', {class: 'note'}, question)),
		element('div', {class: 'guesses'}, kernels.map((kernel, i) => element('label', {}, kernel.label, inputs[i]))), error,
		element('div', {class: 'actions'}, element('button', {type: 'submit', class: 'button main'}, 'Play it'),
			element('button', {type: 'button', class: 'button', onclick: () => done(new Map())}, 'Skip')));
}
