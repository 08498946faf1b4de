/* The race: a bar a kernel, all on one scale, with the bytes in figures beside it. */

/* "scores, block 3 of 0–127": how far a kernel is in its work. Blocks and intervals are counted from 0, as CUDA does. */
function progressOf(kernel, group) {
	if (!group)
		return 'not started';
	const [across, down, deep] = group.header.grid, [x, y, z] = group.block.split(',').map(Number);
	if (kernel.launches.length === 1 && across * down * deep === 1)
		return `interval ${group.interval} of 0\u2013${kernel.groups[kernel.groups.length - 1].interval}`;
	const name = kernel.launches.length > 1 ? `${group.kernel}, ` : '';
	return `${name}block ${x + across * (y + down * z)} of 0\u2013${across * down * deep - 1}`;
}

function makeRaceRow(kernel) {
	const bars = {};
	for (const name of ['written', 'read', 'mark']) /* what is read lies over what is written, and leaves its end */
		bars[name] = element('i', {class: name});
	const moved = element('b'), of = element('span', {class: 'dim'});
	const note = element('small'), guessed = element('small');
	const second = kernel.label === kernel.name ? kernel.summary : kernel.name;
	const node = element('div', {class: 'row', 'data-kernel': kernel.name},
		element('div', {class: 'name'}, element('span', ofKernel(kernel.name), kernel.label), element('small', {}, second)),
		element('div', {class: 'bar', 'aria-hidden': 'true'}, Object.values(bars)),
		element('div', {class: 'count'}, moved, ' ', of, note, guessed));
	return {node, ...bars, moved, of, note, guessed};
}

/* 1, 2 or 5 times a power of ten: the least of them that is not below. */
function niceAbove(value) {
	const power = 10 ** Math.floor(Math.log10(value));
	return power * [1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-12));
}

/*
 * {node, move(places, clock), draw(places, clock, guesses)}; guesses are null as long as the answer is to be hidden. move is for
 * every frame: bars are transformed, nothing is laid out. It is false where the scale grew, which draw has to write down.
 */
function makeRace(kernels) {
	const rows = kernels.map(makeRaceRow), ticks = [0, 1, 2].map(() => element('span'));
	const shortest = Math.min(...kernels.map((kernel) => kernel.total));
	const axis = element('div', {class: 'axis', 'aria-hidden': 'true'}, element('span'),
		element('div', {class: 'ticks'}, ticks), element('span', {class: 'dim small'}, 'one scale for all'));

	let scale = 0;
	/* The scale grows with the clock, so it tells nobody how far a kernel has to go. */
	const scaleOf = (clock) => niceAbove(Math.max(clock, shortest / 4, 1));

	const drawGuess = (row, kernel, guess, finished) => {
		row.mark.hidden = !Number.isFinite(guess) || guess >= scale;
		if (!row.mark.hidden)
			row.mark.style.left = `min(${100 * guess / scale}%, 100% - 2px)`;
		setText(row.guessed, Number.isFinite(guess) && finished
			? `you said ${bytes(guess)}: ${figure(guess / kernel.total, 3)}\u00d7 the truth` : '');
	};
	const move = (places, clock) => {
		const before = scale;
		scale = scaleOf(clock);
		rows.forEach((row, i) => {
			const {read, written} = places[i];
			Object.assign(row.node.dataset, {read, written});
			fillTo(row.read, read / scale);
			fillTo(row.written, (read + written) / scale);
		});
		return scale === before;
	};

	const draw = (places, clock, guesses) => {
		move(places, clock);
		ticks.forEach((tick, i) => setText(tick, bytes(scale * i / 2).replace(/\.0+(?=\u00a0)/, '')));
		rows.forEach((row, i) => {
			const kernel = kernels[i], {group, finished, read, written} = places[i];
			setText(row.moved, count(read + written));
			setText(row.of, finished ? 'bytes in all' : 'bytes so far');
			row.note.className = finished ? 'done' : 'progress';
			setText(row.note, finished ? '\u2713 done' : progressOf(kernel, group));
			drawGuess(row, kernel, guesses && guesses.get(kernel.name), finished);
		});
	};
	const node = element('section', {class: 'race', 'aria-label': 'Bytes of global memory'}, rows.map((row) => row.node), axis);
	return {node, move, draw};
}
