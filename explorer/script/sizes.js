/*
 * The race at the sliders' sizes: as many bytes as the closed forms say, at one bandwidth for all. It starts anew whenever a
 * slider moves; with reduced motion it shows the end at once.
 */

const sizesSeconds = 8; /* of the longest */

/* {node, set(elements), stop()}; `rows` are the forms' that race, the last of them what the others are compared with. */
function makeSizesRace(rows, order) {
	const lanes = order.map((row) => ({row, bar: element('i', {class: 'own', style: ownColor(rows[row].kernel)}), told: element('output')}));
	let totals = [], clock = 0, timer = 0, before = 0, lastWords = 0;
	const verdict = element('p', {class: 'small', 'data-race': ''});
	const button = element('button', {type: 'button', class: 'button', onclick: () => timer ? stop() : play()}, 'Race at these sizes');
	const longest = () => Math.max(...totals);

	const move = () => lanes.forEach(({bar}, i) => fillTo(bar, Math.min(clock, totals[i]) / longest()));
	const draw = () => {
		move();
		lanes.forEach(({told}, i) => {
			const moved = Math.min(clock, totals[i]), done = clock >= totals[i];
			setText(told, `${done ? '\u2713 ' : ''}${bytes(moved)}`);
			told.dataset.done = done;
		});
		const last = totals[totals.length - 1], name = rows[order[order.length - 1]].label;
		const others = lanes.slice(0, -1).map(({row}, i) => `${rows[row].label}: ${figure(totals[i] / last, 3)}\u00d7 the bytes`).join('. ');
		setText(verdict, clock >= longest() ? `Beside ${name}: ${others}. If memory is what they wait for, the same holds for their times.`
			: clock === 0 ? 'One scale, one bandwidth for all.' : clock >= last ? `${name} is done.` : '');
	};
	const stop = () => {
		cancelAnimationFrame(timer);
		timer = 0;
		button.textContent = 'Race at these sizes';
	};
	const tick = (now) => {
		clock = Math.min(longest(), clock + Math.min(0.3, Math.max(0, (now - before) / 1000)) * longest() / sizesSeconds);
		before = now;
		if (clock < longest() && now - lastWords < wordsEvery)
			move();
		else {
			lastWords = now;
			draw();
		}
		if (clock < longest() && verdict.isConnected)
			timer = requestAnimationFrame(tick);
		else
			stop();
	};
	const play = () => {
		clock = isQuiet() ? longest() : clock < longest() ? clock : 0;
		draw();
		if (isQuiet())
			return;
		before = performance.now();
		button.textContent = 'Stop';
		timer = requestAnimationFrame(tick);
	};
	/* `moved`: by a slider, which lets it run; else it waits at the start. */
	const set = (elements, moved) => {
		stop();
		totals = order.map((row) => 4 * elements[row]);
		clock = 0;
		if (moved)
			play();
		else
			draw();
	};
	const node = element('section', {class: 'stack column', 'aria-label': 'The race at these sizes'},
		lanes.map(({row, bar, told}) => element('div', {class: 'form-row'}, element('span', {}, rows[row].label),
			element('div', {class: 'bar', 'aria-hidden': 'true'}, bar), told)), verdict, button);
	return {node, set, stop};
}
