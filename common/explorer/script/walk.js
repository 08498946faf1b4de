/* The tiles of S under the sliders: the order in which FlashAttention-2 visits them, a query tile after the other. */

const walkSeconds = 6;

/* {node, set(values), stop()}; values holds N, d, Br, Bc, Tr, Tc. */
function makeWalk() {
	const canvas = element('canvas', {'aria-hidden': 'true', style: 'width:100%;max-width:260px;aspect-ratio:1'});
	const caption = element('p', {class: 'small', 'data-walk': ''});
	let values = null, at = 0, timer = 0, before = 0;
	const button = element('button', {type: 'button', class: 'button', onclick: () => timer ? stop() : play()}, 'Walk through the tiles');

	const draw = () => {
		const {Tr, Tc, Br, Bc, N} = values, tile = Math.min(Math.floor(at), Tr * Tc - 1);
		const i = Math.floor(tile / Tc), j = tile % Tc;
		canvas.width = canvas.height = 260;
		const context = canvas.getContext('2d'), color = (index) => `#${(palette[index] & 0xffffff).toString(16).padStart(6, '0').replace(/(..)(..)(..)/, '$3$2$1')}`;
		const edges = (n, size) => Array.from({length: n + 1}, (_, k) => Math.min(260, 260 * k * size / N));
		const rows = edges(Tr, Br), columns = edges(Tc, Bc), thin = Math.min(260 * Br / N, 260 * Bc / N) > 4 ? 1 : 0;
		const cell = (r, c, index) => {
			context.fillStyle = color(index);
			context.fillRect(columns[c], rows[r], columns[c + 1] - columns[c] - thin, rows[r + 1] - rows[r] - thin);
		};
		for (let r = 0; r < Tr; r++)
			for (let c = 0; c < Tc; c++)
				cell(r, c, r < i || (r === i && c < j) ? 8 * LOADED : 0);
		cell(i, j, STORED);
		const last = (first, size) => Math.min(first + size, N) - 1;
		caption.textContent = `Tile ${tile} of 0\u2013${Tr * Tc - 1}: rows ${i * Br}\u2013${last(i * Br, Br)} of Q meet rows ` +
			`${j * Bc}\u2013${last(j * Bc, Bc)} of K and V. This tile of S has ${bytes(4 * Br * Bc)} and lives on the chip; all of S would have ${bytes(4 * N * N)}.`;
	};
	const stop = () => {
		cancelAnimationFrame(timer);
		clearTimeout(timer);
		timer = 0;
		button.textContent = 'Walk through the tiles';
	};
	const next = () => isQuiet() ? setTimeout(() => tick(performance.now()), 400) : requestAnimationFrame(tick);
	const tick = (now) => {
		const all = values.Tr * values.Tc;
		at += Math.min(0.5, (now - before) / 1000) * Math.max(all / walkSeconds, 1);
		before = now;
		draw();
		if (at < all && canvas.isConnected)
			timer = next();
		else
			stop();
	};
	const play = () => {
		at = at < values.Tr * values.Tc ? at : 0;
		before = performance.now();
		button.textContent = 'Stop';
		timer = next();
	};
	const set = (to) => {
		values = {...to};
		at = Math.min(at, to.Tr * to.Tc - 1);
		if (!timer)
			at = 0;
		draw();
	};
	return {node: element('div', {class: 'walk'}, element('div', {class: 'memory'}, canvas), caption, button), set, stop, draw: () => values && draw()};
}
