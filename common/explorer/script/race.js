/* The race: a bar a kernel, all on one scale, with the bytes in figures beside it. */

/* "scores, block 4 of 128": how far a kernel is in its work. */
function progressOf(kernel, group) {
	if (!group)
		return 'not started';
	const [across, down, deep] = group.header.grid, [x, y, z] = group.block.split(',').map(Number);
	if (kernel.launches.length === 1 && across * down * deep === 1)
		return `interval ${kernel.groups.indexOf(group) + 1} of ${kernel.groups.length}`;
	const name = kernel.launches.length > 1 ? `${group.kernel}, ` : '';
	return `${name}block ${x + across * (y + down * z) + 1} of ${across * down * deep}`;
}

function makeRaceRow(kernel) {
	const bars = {};
	for (const name of ['track', 'read', 'written', 'mark'])
		bars[name] = element('i', {class: name});
	const moved = element('b'), of = element('span', {class: 'dim'});
	const note = element('small'), guessed = element('small');
	const second = kernel.label === kernel.name ? kernel.summary : kernel.name;
	const node = element('div', {class: 'row', 'data-kernel': kernel.name},
		element('div', {class: 'name'}, kernel.label, element('small', {}, second)),
		element('div', {class: 'bar', 'aria-hidden': 'true'}, Object.values(bars)),
		element('div', {class: 'count'}, moved, ' ', of, note, guessed));
	return {node, ...bars, moved, of, note, guessed};
}

/* {node, draw(places, clock, guesses)}; guesses are null as long as the answer is to be hidden. */
function makeRace(kernels) {
	const rows = kernels.map(makeRaceRow);
	const totals = kernels.map((kernel) => kernel.total).sort((a, b) => b - a);

	/* The scale reaches to the second longest at first; then it grows with the clock. */
	const scaleOf = (clock) => Math.min(totals[0], Math.max(1.25 * (totals[1] || totals[0]), 1.02 * clock)) || 1;

	const drawGuess = (row, kernel, guess, share, finished) => {
		row.mark.hidden = !Number.isFinite(guess);
		row.guessed.textContent = '';
		if (row.mark.hidden)
			return;
		row.mark.style.left = `min(${share(guess)}, 100% - 2px)`;
		if (finished)
			row.guessed.textContent = `you said ${bytes(guess)}: ${figure(guess / kernel.total, 3)}\u00d7 the truth`;
	};

	const draw = (places, clock, guesses) => {
		const scale = scaleOf(clock), share = (value) => `${Math.min(100, 100 * value / scale)}%`;
		rows.forEach((row, i) => {
			const kernel = kernels[i], {group, finished} = places[i];
			const read = group ? group.readEnd : 0, written = group ? group.writtenEnd : 0;
			Object.assign(row.node.dataset, {read, written});
			row.track.style.width = share(guesses ? kernel.total : totals[0]);
			row.read.style.width = row.written.style.left = share(read);
			row.written.style.width = share(written);
			row.moved.textContent = count(read + written);
			row.of.textContent = guesses || finished ? `of ${count(kernel.total)} B` : 'bytes';
			row.note.className = finished ? 'done' : '';
			row.note.textContent = finished ? '\u2713 done' : progressOf(kernel, group);
			drawGuess(row, kernel, guesses && guesses.get(kernel.name), share, finished);
		});
	};
	const node = element('section', {class: 'race', 'aria-label': 'Bytes of global memory'}, rows.map((row) => row.node));
	return {node, draw};
}
