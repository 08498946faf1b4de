/* The tiles of S under the sliders: the order in which FlashAttention-2 visits them, a query tile after the other. */

const walkSeconds = 6;

/* {node, set(values, fits), draw()}; values holds N, d, Br, Bc, Tr, Tc; fits: the tiles have room in shared memory. */
function makeWalk() {
	const side = 260, canvas = element('canvas', {'aria-hidden': 'true', width: side, height: side, style: 'width:100%;max-width:260px;aspect-ratio:1'});
	const caption = element('p', {class: 'small', 'data-walk': ''});
	let values = null, fits = true, at = 0, timer = 0, before = 0, lastWords = 0;
	const button = element('button', {type: 'button', class: 'button', onclick: () => timer ? stop() : play()}, 'Walk through the tiles');

	/* Tiles visited before are tinted, as what was read before; with so many that no line fits between them, in three pieces. */
	const paintTiles = (i, j) => {
		const {Tr, Tc, Br, Bc, N} = values, context = canvas.getContext('2d'), color = (index) => `#${(palette[index] & 0xffffff).toString(16).padStart(6, '0').replace(/(..)(..)(..)/, '$3$2$1')}`;
		const edge = (k, size) => Math.min(side, side * k * size / N), thin = Math.min(side * Br / N, side * Bc / N) > 4 ? 1 : 0;
		const fill = (index, top, left, down = 1, across = 1) => {
			context.fillStyle = color(index);
			context.fillRect(edge(left, Bc), edge(top, Br), edge(left + across, Bc) - edge(left, Bc) - thin, edge(top + down, Br) - edge(top, Br) - thin);
		};
		context.clearRect(0, 0, side, side);
		for (let r = 0; thin && r < Tr; r++)
			for (let c = 0; c < Tc; c++)
				fill(r < i || (r === i && c < j) ? 8 * LOADED : 0, r, c);
		if (!thin) {
			fill(0, 0, 0, Tr, Tc);
			fill(8 * LOADED, 0, 0, i, Tc);
			fill(8 * LOADED, i, 0, 1, j);
		}
		fill(LOADED, i, j);
	};
	const draw = (onlyPaint) => {
		const {Tr, Tc, Br, Bc, N} = values, tile = Math.min(Math.floor(at), Tr * Tc - 1);
		const i = Math.floor(tile / Tc), j = tile % Tc;
		paintTiles(i, j);
		if (onlyPaint)
			return;
		const last = (first, size) => Math.min(first + size, N) - 1;
		setText(caption, `Tile ${tile} of 0\u2013${Tr * Tc - 1}: rows ${i * Br}\u2013${last(i * Br, Br)} of Q meet rows ` +
			`${j * Bc}\u2013${last(j * Bc, Bc)} of K and V. This tile of S has ${bytes(4 * Br * Bc)}` +
			`${fits ? ' and lives on the chip' : '; with such tiles the kernel cannot run'}; all of S would have ${bytes(4 * N * N)}.`);
	};
	const stop = () => {
		cancelAnimationFrame(timer);
		timer = 0;
		button.textContent = 'Walk through the tiles';
	};
	const tick = (now) => {
		const all = values.Tr * values.Tc;
		at += Math.min(0.5, (now - before) / 1000) * Math.max(all / walkSeconds, 1);
		before = now;
		const goesOn = at < all && canvas.isConnected, onlyPaint = goesOn && now - lastWords < wordsEvery;
		lastWords = onlyPaint ? lastWords : now;
		draw(onlyPaint);
		if (goesOn)
			timer = requestAnimationFrame(tick);
		else
			stop();
	};
	const play = () => {
		const all = values.Tr * values.Tc;
		at = isQuiet() ? all : at < all ? at : 0;
		if (isQuiet())
			return draw();
		before = performance.now();
		button.textContent = 'Stop';
		timer = requestAnimationFrame(tick);
	};
	const set = (to, fit) => {
		values = {...to};
		fits = fit;
		at = Math.min(at, to.Tr * to.Tc - 1);
		if (!timer)
			at = 0;
		draw();
	};
	return {node: element('div', {class: 'walk'}, element('div', {class: 'memory'}, canvas), caption, button), set, draw: () => draw()};
}
