/*
 * Where between two accesses a barrier is missing. That one follows the other in the program is known only where a thread
 * did both with no barrier between (the device says `passed`). Where this leads back to an earlier line, it is a loop that
 * leads there. Nothing is said where the text does not fit.
 */

/* The function that holds a line: the last definition above it that begins at the margin. */
function functionAt(run, place) {
	const [file, line] = place.split(':');
	for (let n = Number(line); n > 0; n--) {
		const text = (sourceText(run, `${file}:${n}`) || '').replace(/__launch_bounds__\([^)]*\)/, '');
		const found = /^(?:\w+ )*?(?:__device__|__global__)\b[^(]*?(\w+)\s*\(/.exec(text);
		if (found)
			return found[1];
	}
	return '';
}

/* Where the kernel's own file calls a function: ["row.cu:66", ...]. */
function callsOf(run, file, name) {
	const lines = ((run.sources || {})[file] || '').split('\n'), call = new RegExp(`\\b${name}\\s*(<[^;()]*>)?\\(`);
	return lines.flatMap((text, i) =>
		name && call.test(text) && !/__device__|__global__|^\s*\/[/*]/.test(text) ? [`${file}:${i + 1}`] : []);
}

/* Where both accesses are seen in one file, the first one's lines and the second one's: their own, or the calls of their
 * functions in the kernel's file. Null: nowhere. */
function seenTogether(run, kernel, places) {
	const names = places.map((place) => functionAt(run, place)), files = places.map((place) => place.split(':')[0]);
	const launch = (run.trace || []).find((line) => line.type === 'launch' && line.kernel === kernel);
	const isOne = names[0] && names[0] === names[1] && files[0] === files[1];
	const file = isOne ? files[0] : launch && launch.file.split('/').pop();
	const linesOf = (place, i) => isOne || names[i] === kernel ? [place] : callsOf(run, file, names[i]);
	const lines = file && names[0] && names[1]
		? places.map((place, i) => linesOf(place, i).filter((one) => one.startsWith(`${file}:`)).map((one) => Number(one.split(':')[1]))) : [[], []];
	return lines.every((list) => list.length) ? {file, names, lines, areCalls: !isOne && names.some((name) => name !== kernel)} : null;
}

/* The text without comments and what is quoted, every character in its place. */
function bareText(text) {
	return text.replace(/\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g, (found) => found.replace(/[^\n]/g, ' '));
}

/* Where what opens at `from` is closed. */
function closingOf(text, from, open, close) {
	for (let depth = 0, at = from; at < text.length; at++) {
		depth += (text[at] === open) - (text[at] === close);
		if (depth === 0)
			return at;
	}
	return -1;
}

/* The innermost loop with a body in braces that holds these lines: {head, end}, lines; or null. */
function loopAround(text, first, last) {
	const lineAt = (at) => text.slice(0, at).split('\n').length;
	let found = null;
	for (const {index, 0: {length}} of text.matchAll(/\b(?:for|while)\s*\(/g)) {
		const head = closingOf(text, index + length - 1, '(', ')');
		const brace = head < 0 ? -1 : head + 1 + text.slice(head + 1).search(/\S/);
		const end = text[brace] === '{' ? closingOf(text, brace, '{', '}') : -1;
		if (end >= 0 && lineAt(brace) < first && lineAt(end) > last)
			found = {head: lineAt(index), end: lineAt(end)};
	}
	return found;
}

/*
 * A thread goes from the access at places[0] to the one at places[1]: {file, loop, from, to}, the barrier's lines are
 * those after `from` and before `to`; with a loop, `from` is further down: the barrier is before its end, or before `to`.
 */
function gapBetween(run, kernel, places) {
	const seen = seenTogether(run, kernel, places);
	if (!seen)
		return null;
	const {file, lines: [one, other]} = seen, text = bareText(run.sources[file]), rows = text.split('\n');
	const isFree = (after, before) => !/__sync|\bsync\s*\(/.test(rows.slice(after, before - 1).join('\n'));
	const from = Math.max(...one), to = Math.min(...other);
	if (from < to)
		return isFree(from, to) ? {...seen, loop: null, from, to} : null;
	const loop = Math.min(...one) > Math.max(...other) ? loopAround(text, to, from) : null;
	return loop && isFree(from, loop.end) && isFree(loop.head, to) ? {...seen, loop, from, to} : null;
}

/* The pairs of places of a cause of which a thread passed both, in this order; each once, forward ones first. */
function gapsOf(run, cause) {
	const found = new Map();
	for (const hazard of cause.list) {
		const [place, other] = sidesOf(hazard);
		const barrier = /__sync(?:threads|warp)\(\)/.exec(hazard.advice || '');
		const gap = other && other !== place && hazard.other.passed && barrier && gapBetween(run, hazard.kernel, [other, place]);
		const key = gap && `${hazard.kernel} ${gap.file} ${gap.loop ? gap.loop.head : 0} ${gap.from} ${gap.to}`;
		if (gap && !found.has(key))
			found.set(key, {...gap, key, barrier: barrier[0]});
	}
	return [...found.values()].sort((a, b) => !!a.loop - !!b.loop);
}

/* A barrier of the block is one of its warps, too: races that want only the latter, at places where the former is missing, are
 * the same cause. */
function withoutImplied(run, causes) {
	const isError = (cause) => cause.list.some((hazard) => hazard.severity === 'error');
	const errors = causes.filter(isError), others = causes.filter((cause) => !isError(cause));
	const rest = others.filter((cause) => {
		const keys = gapsOf(run, cause).map(({key}) => key);
		const by = keys.length && errors.find((error) => keys.every((key) => gapsOf(run, error).some((gap) => gap.key === key)));
		if (by)
			by.list.push(...cause.list);
		return !by;
	});
	return [...errors, ...rest];
}

const sorted = (list) => [...new Set(list)].sort((a, b) => a - b);

/* The lines between which it is missing, as they stand in the file, with a mark where it belongs. */
function makeGap(run, {file, loop, from, to, lines: [one, other], areCalls, barrier}) {
	const row = (n) => `${String(n).padStart(4)}  ${sourceText(run, `${file}:${n}`).replaceAll('\t', '  ')}\n`;
	const mark = (words) => element('span', {class: 'here missing'}, `  \u25b8   ${words}\n`);
	const marks = [mark(`${barrier} is missing here`), mark('or here, at the end of the body')], text = [`${file}\n`];
	const shown = loop ? [loop.head, marks[0], ...sorted(other), ...sorted(one), marks[1], loop.end] : [...sorted(one), marks[0], ...sorted(other)];
	let last = Infinity;
	for (const line of shown) {
		if (line > last + 1)
			text.push('      \u2026\n');
		text.push(typeof line === 'number' ? row(line) : line);
		last = typeof line === 'number' ? line : last;
	}
	return element('div', {class: 'gap', 'data-gap': loop ? 'loop' : 'straight'},
		element('p', {class: 'small'}, loop
			? [element('b', {}, 'From one iteration of the loop to the next: '), `a thread goes from line ${from} to the end of the loop's body, and on to line ${to} ` +
				'in the next iteration, without a barrier. It belongs at the end of the body, or before line ', `${to}.`]
			: [element('b', {}, 'Within one pass: '), `a thread goes from line ${from} to line ${to} without a barrier. It belongs between them.`],
		areCalls ? ' The accesses are in the functions that are called here.' : ''),
		element('pre', {class: 'mono snippet'}, text));
}

/* Where it is missing; where that cannot be told, at least where the accesses' functions are called. */
function makeBarrierPlaces(run, cause, places) {
	const gaps = gapsOf(run, cause);
	if (gaps.length)
		return gaps.map((gap) => makeGap(run, gap));
	const seen = seenTogether(run, cause.kernel, places);
	if (!seen || !seen.areCalls)
		return '';
	const {file, names, lines} = seen;
	return [element('p', {class: 'small'}, 'The first is in ', element('code', {}, names[0]), ', the second in ',
		element('code', {}, names[1]), '. They are called here:'),
	element('pre', {class: 'mono snippet'}, [...new Set(lines.flat())].sort((a, b) => a - b).map((line) =>
		`${`${file}:${line}`.padEnd(14)} ${sourceLine(run, `${file}:${line}`)}\n`))];
}
