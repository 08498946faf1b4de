/* The race: a bar a kernel, all on one scale, with the bytes in figures beside it. */

/* "scores, block 3 of 0–127": how far a kernel is in its work. Blocks and intervals are counted from 0, as CUDA does. */
function progressOf(kernel, group) {
	if (!group)
		return 'not started';
	const [across, down, deep] = group.header.grid, [x, y, z] = group.block.split(',').map(Number);
	if (kernel.launches.length === 1 && across * down * deep === 1)
		return `interval ${kernel.groups.indexOf(group)} of 0\u2013${kernel.groups.length - 1}`;
	const name = kernel.launches.length > 1 ? `${group.kernel}, ` : '';
	return `${name}block ${x + across * (y + down * z)} of 0\u2013${across * down * deep - 1}`;
}

function makeRaceRow(kernel) {
	const bars = {};
	for (const name of ['read', 'written', 'mark'])
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

/* 1, 2 or 5 times a power of ten: the least of them that is not below. */
function niceAbove(value) {
	const power = 10 ** Math.floor(Math.log10(value));
	return power * [1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-12));
}

/* {node, draw(places, clock, guesses)}; guesses are null as long as the answer is to be hidden. */
function makeRace(kernels) {
	const rows = kernels.map(makeRaceRow), ticks = [0, 1, 2].map(() => element('span'));
	const shortest = Math.min(...kernels.map((kernel) => kernel.total));
	const axis = element('div', {class: 'axis', 'aria-hidden': 'true'}, element('span'),
		element('div', {class: 'ticks'}, ticks), element('span', {class: 'dim small'}, 'one scale for all'));

	/* The scale grows with the clock, so it tells nobody how far a kernel has to go. */
	const scaleOf = (clock) => niceAbove(Math.max(clock, shortest / 4, 1));

	const drawGuess = (row, kernel, guess, share, finished) => {
		row.mark.hidden = !Number.isFinite(guess) || share(guess) === '100%';
		if (!row.mark.hidden)
			row.mark.style.left = `min(${share(guess)}, 100% - 2px)`;
		row.guessed.textContent = Number.isFinite(guess) && finished
			? `you said ${bytes(guess)}: ${figure(guess / kernel.total, 3)}\u00d7 the truth` : '';
	};

	const draw = (places, clock, guesses) => {
		const scale = scaleOf(clock), share = (value) => `${Math.min(100, 100 * value / scale)}%`;
		ticks.forEach((tick, i) => { tick.textContent = bytes(scale * i / 2).replace(/\.0+(?=\u00a0)/, ''); });
		rows.forEach((row, i) => {
			const kernel = kernels[i], {group, finished, read, written} = places[i];
			Object.assign(row.node.dataset, {read, written});
			row.read.style.width = row.written.style.left = share(read);
			row.written.style.width = share(written);
			row.moved.textContent = count(read + written);
			row.of.textContent = finished ? 'bytes in all' : 'bytes so far';
			row.note.className = finished ? 'done' : '';
			row.note.textContent = finished ? '\u2713 done' : progressOf(kernel, group);
			drawGuess(row, kernel, guesses && guesses.get(kernel.name), share, finished);
		});
	};
	const node = element('section', {class: 'race', 'aria-label': 'Bytes of global memory'}, rows.map((row) => row.node), axis);
	return {node, draw};
}
