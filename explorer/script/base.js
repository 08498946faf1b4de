/* Small things every view needs: elements, numbers as text, the page's data, what is said aloud. */

const data = JSON.parse(document.getElementById('data').textContent);

/* What was recorded of a run, as the views take it: a trace that was cut off is none. */
for (const run of data.runs) {
	const end = (run.trace || []).slice(-1)[0];
	if (end && end.type === 'truncated') {
		run.no_trace = `This run's trace has over ${end.limit_bytes / 2 ** 20} MiB, more than a page should. ${run.smaller}`;
		delete run.trace;
	}
	run.hazards = (run.report || []).filter((record) => record.type === 'hazard');
}

/* element('p', {class: 'dim', onclick: f}, 'text', child, ...) */
function element(name, attributes, ...children) {
	const svg = /^(svg|g|rect|line|text|path|circle|title)$/.test(name);
	const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {})) {
		if (value === undefined || value === null || (value === false && !key.startsWith('aria-')))
			continue;
		if (key.startsWith('aria-'))
			node.setAttribute(key, String(value));
		else if (key.startsWith('on'))
			node.addEventListener(key.slice(2), value);
		else if (key === 'style')
			node.style.cssText = value;
		else
			node.setAttribute(key, value === true ? '' : value);
	}
	node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ''));
	return node;
}

/*
 * Marks at the edge of what scrolls that there is more, and ends a table before the first column that would be cut: of a
 * number that is cut nobody sees that it is. --end is where, from the left of the table.
 */
function markEnd(node) {
	const room = node.getBoundingClientRect(), goesOn = node.scrollLeft + node.clientWidth < node.scrollWidth - 1;
	const table = goesOn && node.querySelector('table'), cut = table && [...table.rows[0].cells].slice(1)
		.find((cell) => cell.getBoundingClientRect().right > room.right + 1);
	const first = node.querySelector('tr > :first-child'); /* it stays; what is scrolled to begins beside it */
	node.style.scrollPaddingLeft = first ? `${first.offsetWidth}px` : null;
	node.toggleAttribute('data-more', goesOn);
	node.style.setProperty('--end', cut ? `${cut.getBoundingClientRect().left - table.getBoundingClientRect().left}px` : null);
}

const edges = new ResizeObserver((entries) => entries.forEach(({target}) => markEnd(target)));

function watchEnd(node) {
	edges.observe(node);
	new MutationObserver(() => markEnd(node)).observe(node, {childList: true});
	node.addEventListener('scroll', () => markEnd(node), {passive: true});
	return node;
}

/* What may be wider than the page; the keyboard can scroll it. */
function makeScroll(label, ...children) {
	return watchEnd(element('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': label}, children));
}

function icon(path, attributes) {
	return element('svg', {viewBox: '0 0 24 24', 'aria-hidden': 'true', ...attributes}, element('path', {d: path}));
}

const icons = {
	play: 'M7 4.5v15l12-7.5z', pause: 'M7 5h4v14H7zM13 5h4v14h-4z',
	back: 'M15 5v14l-9-7zM17 5h2v14h-2z', forward: 'M9 5v14l9-7zM5 5h2v14H5z',
	first: 'M19 5v14l-8-7zM11 5v14l-8-7z', last: 'M5 5v14l8-7zM13 5v14l8-7z',
};

const grouped = new Intl.NumberFormat('en-US');

/* 82176 -> "82,176"; 82176 -> "82.2 kB", powers of 1000 as the programs print them. */
function count(value) {
	return grouped.format(value);
}

function bytes(value) {
	let unit = 0;
	while (value >= 999.5 && unit < 4) {
		value /= 1000;
		unit++;
	}
	const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	return value.toFixed(digits) + '\u00a0' + ['B', 'kB', 'MB', 'GB', 'TB'][unit];
}

/* A number of the data: JSON has no infinities, so they are texts there. */
function number(value) {
	if (typeof value === 'number')
		return value;
	return {inf: Infinity, '-inf': -Infinity}[value] ?? NaN;
}

function figure(value, digits = 5) {
	if (Number.isNaN(value))
		return 'NaN';
	if (!Number.isFinite(value))
		return value > 0 ? '\u221e' : '\u2212\u221e';
	if (value === 0)
		return '0';
	const size = Math.abs(value);
	const text = size >= 1e6 || size < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(digits)));
	return text.replace('e+', 'e').replaceAll('-', '\u2212');
}

/* The same text again would be laid out again. */
function setText(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

/* A strip as wide as its bar, moved in from the left: what a transform shows is not laid out. */
function fillTo(strip, share) {
	strip.style.transform = `translateX(${100 * (Math.min(share, 1) - 1)}%)`;
}

const wordsEvery = 125; /* milliseconds while something plays: words are laid out, and nobody reads faster */

function plural(n, word) {
	return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}

/* [[first, last], ...] of rising numbers: those without a gap are one run. */
function runsIn(numbers) {
	const runs = [];
	for (const n of numbers) {
		const last = runs[runs.length - 1];
		if (last && last[1] === n - 1)
			last[1] = n;
		else
			runs.push([n, n]);
	}
	return runs;
}

/* "0–15, 48–50": runs of numbers, the first few of them. */
function runsOf(numbers) {
	const runs = runsIn(numbers), told = runs.slice(0, 3).map(([first, end]) => first === end ? String(first) : `${first}\u2013${end}`);
	return told.join(', ') + (runs.length > 3 ? ', \u2026' : '');
}

/* "heads 3–5", "key 7". */
const several = (numbers, word) => `${word}${numbers.length === 1 ? '' : 's'} ${runsOf(numbers)}`;

/* "N = 64, d = 32, causal": what a run is known by. */
function describe(problem) {
	const letters = {batch: 'B', heads: 'H', seq: 'N', dim: 'd', rows: 'R', cols: 'C', m: 'm', n: 'n', k: 'k'};
	const isOne = (key) => /^(batch|heads)$/.test(key) && problem[key] === 1;
	const said = Object.keys(letters).filter((key) => problem[key] !== undefined && !isOne(key));
	const text = said.map((key) => `${letters[key]}\u00a0=\u00a0${problem[key]}`);
	return text.join(', ') + (problem.causal ? ', causal' : '');
}

/* The color that a kernel has in the charts: {class, style} of what carries its name, or of its bar. */
const ownColor = (name) => `--own:var(--${data.colors[name] || 'gray'})`;
const ofKernel = (name) => ({class: 'kernel', style: ownColor(name)});

/* Says the state to a screen reader; at most once in a while, and only the last of several. */
let saying = 0;
function say(text) {
	clearTimeout(saying);
	saying = setTimeout(() => { document.getElementById('live').textContent = text; }, 350);
}

const quiet = matchMedia('(prefers-reduced-motion: reduce)');
function isQuiet() {
	return quiet.matches;
}

/* Keys that step, unless what has the focus takes them itself: a slider its arrows, what is pressed its blank, what scrolls. */
function wantsKeys({key, target}) {
	if (target.closest('textarea, select, [role="tablist"]'))
		return false;
	if (target.closest('[data-roving] [tabindex]')) /* arrows go from cell to cell */
		return !key.startsWith('Arrow');
	if (key === ' ')
		return !target.closest('button, a, summary, input:not([type="range"])');
	const scroll = key.startsWith('Arrow') && target.closest('.scroll');
	return !target.closest('input:not([type="checkbox"])') && !(scroll && scroll.scrollWidth > scroll.clientWidth);
}

/*
 * One stop of Tab for all cells of a picture: the arrow keys go to the nearest cell in their direction, and Tab comes back to the cell
 * that was left. chosen(cell): one got the focus, also by a click. `node` is no svg: one that
 * listens for the focus can get it.
 */
function makeRoving(node, selector, chosen) {
	node.dataset.roving = '';
	node.addEventListener('focusin', ({target}) => {
		const cell = target.closest(selector);
		if (!cell)
			return;
		[...node.querySelectorAll(`${selector}[tabindex="0"]`)].filter((other) => other !== cell).forEach((other) => other.setAttribute('tabindex', -1));
		cell.setAttribute('tabindex', 0);
		chosen(cell);
	});
	node.addEventListener('keydown', (event) => {
		const [x, y] = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key] || [0, 0];
		const cell = event.target.closest(selector), modified = event.ctrlKey || event.altKey || event.metaKey;
		if (!cell || modified || (x === 0 && y === 0))
			return;
		event.preventDefault();
		const middle = (other) => (({left, right, top, bottom}) => [(left + right) / 2, (top + bottom) / 2])(other.getBoundingClientRect());
		const [fromX, fromY] = middle(cell), ways = [...node.querySelectorAll(selector)].map((other) => {
			const [toX, toY] = middle(other), along = x * (toX - fromX) + y * (toY - fromY), across = Math.abs(y * (toX - fromX) + x * (toY - fromY));
			return {other, along, way: along + 4 * across};
		});
		const [to] = ways.filter(({along}) => along > 1).sort((a, b) => a.way - b.way);
		if (to)
			to.other.focus();
	});
}

/* Where what had the focus goes away, and where a tab was clicked: the view takes the keys. */
function focusView() {
	document.getElementById('main').focus({preventScroll: true});
}

/* The buttons and the slider of a view that has steps: {count, value, set(step), play(), isPlaying()} */
function makePlayer(steps, label) {
	const button = (name, path, action, edge) => element('button', {
		type: 'button', class: 'button' + (edge ? ' edge' : ''), 'aria-label': name, title: name, onclick: action}, icon(path));
	const scrub = element('input', {type: 'range', class: 'scrub', min: 0, max: steps.count(), step: 1, 'aria-label': label,
		oninput: () => steps.set(Number(scrub.value))});
	const play = steps.play && button('Play', icons.play, () => steps.play());
	if (play)
		play.classList.add('main');
	const node = element('div', {class: 'player', role: 'group', 'aria-label': 'Steps'},
		button('To the start', icons.first, () => steps.set(0), true),
		button('One step back', icons.back, () => steps.set(steps.value() - 1)), play || '',
		button('One step on', icons.forward, () => steps.set(steps.value() + 1)),
		button('To the end', icons.last, () => steps.set(steps.count()), true), scrub);
	const show = (text) => {
		scrub.max = steps.count();
		scrub.value = steps.value();
		scrub.setAttribute('aria-valuetext', text);
		if (play) {
			const name = steps.isPlaying() ? 'Pause' : 'Play';
			if (play.getAttribute('aria-label') !== name) {
				play.setAttribute('aria-label', name);
				play.title = name;
				play.replaceChildren(icon(steps.isPlaying() ? icons.pause : icons.play));
			}
		}
	};
	const key = (event) => {
		const moves = {ArrowRight: 1, ArrowLeft: -1};
		if (event.key in moves)
			steps.set(steps.value() + moves[event.key]);
		else if (event.key === 'Home')
			steps.set(0);
		else if (event.key === 'End')
			steps.set(steps.count());
		else if (event.key === ' ' && steps.play)
			steps.play();
		else if (event.key === ' ')
			steps.set(steps.value() + 1);
		else
			return;
		event.preventDefault();
	};
	return {node, show, key};
}
