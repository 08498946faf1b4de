/*
 * A wrong result that no hazard explains. The kernel was run again on fewer keys (explorer/replay.py): here that becomes a
 * sentence, and its first wrong row is compared with what a few mistakes would have made of it.
 */

/* {lse, o} of a row: `terms` are {s, v, m}, m the maximum that the weight was taken with. */
function mix(terms, top, lWeight, oWeight) {
	let l = 0, o = 0;
	for (const term of terms) {
		l += lWeight(term, top);
		o += oWeight(term, top) * term.v;
	}
	return {lse: top + Math.log(l), o: o / l, sum: o};
}

const exactWeight = ({s}, top) => Math.exp(s - top), staleWeight = ({s, m}) => Math.exp(s - m);

/* The row with its first keys alone, in steps of `group`: each term remembers the maximum of its time. */
function termsOf(row, group) {
	let m = -Infinity;
	return row.scores.slice(0, row.visible).map((s, j) => {
		if (j % group === 0)
			m = Math.max(m, ...row.scores.slice(j, Math.min(j + group, row.visible)));
		return {s, v: row.values[j], m};
	});
}

/* Mistakes, and what each makes of the row: {text, lse, o}. */
function* mistakesOf(row, groups) {
	const {scores, values, visible} = row, all = scores.map((s, j) => ({s, v: values[j], m: s}));
	const some = (list) => mix(list, Math.max(...list.map(({s}) => s)), exactWeight, exactWeight);
	const may = visible < scores.length ? `it may see ${visible}` : `there are ${visible}`;
	for (let k = 1; k <= all.length; k++)
		if (k !== visible)
			yield {...some(all.slice(0, k)), text: k > visible
				? `as if the row saw its first ${plural(k, 'key')}, while ${may}: ${plural(k - visible, 'key')} too many. Look at the mask.`
				: `as if the row saw only its first ${plural(k, 'key')}, while ${may}: ${plural(visible - k, 'key')} too few. ${visible < all.length ? 'Look at the mask, and at' : 'Look at'} the end of the loop over tiles.`};
	for (let k = 1; k < visible; k++)
		yield {...some(all.slice(k, visible)), text: `as if the row began with key ${k}: the keys before it are not in it.`};
	for (const group of groups) {
		const terms = termsOf(row, group), top = Math.max(...terms.map(({s}) => s));
		const each = group === 1 ? 'from key to key' : `from one group of ${group} keys to the next`;
		yield {...mix(terms, top, staleWeight, staleWeight), text: `as if neither l nor O were multiplied by the correction ${each}, when m grew.`};
		yield {...mix(terms, top, staleWeight, exactWeight), text: `as if l were not multiplied by the correction ${each}, when m grew, while O was.`};
		yield {...mix(terms, top, exactWeight, staleWeight), text: `as if O were not multiplied by the correction ${each}, when m grew, while l was.`};
	}
	const right = some(all.slice(0, visible)), top = Math.max(...all.slice(0, visible).map(({s}) => s));
	yield {lse: right.lse, o: right.sum, text: 'as if O were never divided by l.'};
	yield {lse: Math.log(Math.exp(right.lse - top)), o: right.o, text: 'as if m were left out of LSE = m + ln l.'};
	yield {lse: top, o: right.o, text: 'as if ln l were left out of LSE = m + ln l.'};
	for (let more = 1; more <= Math.max(...groups); more++) {
		const terms = [...all.slice(0, visible), ...Array.from({length: more}, () => ({s: 0, v: 0}))];
		yield {...some(terms), text: `as if ${plural(more, 'key')} of zeros came after its last one: the padding of the last tile is not masked.`};
	}
}

const isNear = (a, b) => Math.abs(a - b) <= 2e-4 * (1e-3 + Math.abs(b));

/* The output's value in the first wrong row, where the page knows it: {got, wrong}. */
function seenOf(described, tensor, row, column) {
	const map = described.maps.find((one) => one.tensor === tensor);
	if (!map)
		return null;
	if (map.first_wrong === undefined)
		return {wrong: false};
	const {first} = map, isHere = first.row === row && (tensor !== 'O' || first.column === column);
	return isHere ? {wrong: true, got: middleOf(map, first).got} : null;
}

/* The first mistake that gives just what came out; null: none of them. */
function findMistake(described, replays, groups) {
	if (!replays.scores)
		return null;
	const {row, column, visible} = replays;
	const own = {scores: replays.scores.map(number), values: replays.values.map(number), visible};
	const right = mix(own.scores.slice(0, visible).map((s, j) => ({s, v: own.values[j]})),
		Math.max(...own.scores.slice(0, visible)), exactWeight, exactWeight);
	const seen = {lse: seenOf(described, 'LSE', row, column), o: seenOf(described, 'O', row, column)};
	const known = ['lse', 'o'].filter((key) => seen[key]);
	if (!known.some((key) => seen[key].wrong && Number.isFinite(seen[key].got)))
		return null;
	for (const mistake of mistakesOf(own, groups)) /* one that changes nothing here explains nothing */
		if (known.some((key) => !isNear(mistake[key], right[key])) &&
			known.every((key) => isNear(mistake[key], seen[key].wrong ? seen[key].got : right[key])))
			return mistake.text;
	return null;
}

/* "too large", "too small", "not a number". */
function senseOf({got, expected}) {
	const [is, should] = [number(got), number(expected)];
	return !Number.isFinite(is) ? 'not a number' : is > should ? 'too large' : 'too small';
}

function adviceOf(outputs) {
	const of = (tensor) => outputs.find((output) => output.tensor === tensor), O = of('O'), LSE = of('LSE');
	const isNan = ({wrong, got}) => wrong && !Number.isFinite(number(got));
	if (outputs.some(isNan) && LSE && !LSE.wrong)
		return 'Not a number, and LSE is right, so m and l are: look at O alone, its correction, the product with V, the last division.';
	if (LSE && LSE.wrong && O && !O.wrong)
		return 'O is right, so l fits it and no key is missing: look at the line that writes LSE = m + ln l, its base and its scale.';
	if (LSE && isNan(LSE) && number(LSE.got) === -Infinity)
		return 'LSE is \u2212\u221e, so l is 0: the row took in no key, and O is 0 divided by 0. Look at where its first key comes from.';
	if (outputs.some(isNan))
		return 'Not a number: l is 0, m is \u2212\u221e, a correction is e to the power +\u221e (its sign?), or something was read that nobody wrote. Does each row take in a key before it divides?';
	const off = ['dQ', 'dK', 'dV'].filter((name) => of(name) && of(name).wrong);
	if (off.length && O && !O.wrong)
		return off.length === 1 ? `Only ${off[0]} is wrong, so P${off[0] === 'dV' ? '' : ', dP and dS'} serve the others well: look at its own product and loop.`
			: off.includes('dV') ? 'dV is wrong too, and needs only P and dO: look at P, and the LSE it is made with.'
				: 'dV is right, so P is: look at dP, D and dS, which dQ and dK share.';
	if (LSE && LSE.wrong)
		return `LSE is ${senseOf(LSE)}: look at m and l` + (senseOf(LSE) === 'too large'
			? ', which count too much: a correction that is missing, or a key that the row may not see.'
			: ', which count too little: a key that is missing, or a correction too many.');
	if (LSE && O && O.wrong)
		return 'LSE is right, so m and l are: look at O alone, its correction, the product with V, the last division.';
	return '';
}

/* How far it is right, in tiles where it can be said in tiles: [what is so, where to look]. */
function reachOf(right, wrong, tile, N) {
	if (!tile && right > 0)
		return [`Right with ${plural(right, 'key')}, wrong with ${wrong}.`, 'Look at what becomes of one key more: the mask, the maximum, the sums.'];
	const t = Math.floor(right / tile), whole = right % tile === 0;
	if (right === 0)
		return ['Wrong already with a single key.', 'Its weight is 1, so O must be its row of V, and LSE its score: look at how a tile ' +
			'is loaded, at the scale, and at what is written.'];
	if (right > 0 && whole && wrong < N && wrong % tile !== 0 && N % tile !== 0 && right + tile > N)
		return [`Right with ${plural(t, 'whole tile')} of ${tile} keys, wrong with one key more: the last tile, which is not whole, ` +
			'is not taken in as it should be.', 'Look at its number of keys, and at the end of the loop.'];
	if (whole)
		return [`Right after tile ${t - 1}, wrong from tile ${t} on.`, 'Look at what carries m, l and O from one tile to the next.'];
	return [`Right with ${plural(right, 'key')}, wrong with ${wrong}, ` + (t ? `key ${right % tile} of tile ${t}.` : 'within the first tile.'),
		right === 1 ? 'Look at what happens when a second key comes: the mask, and the correction.'
			: 'Look at what happens between two groups of keys: m grows, and l and O must be corrected.'];
}

/* A key more is a query more, too. Where only that query is wrong, its key is not what it comes from. */
function queryAlone(outputs, right, {causal}) {
	const rows = outputs.filter(({tensor, wrong, at}) => wrong && at.length > 2 && /^(O|LSE|dQ)$/.test(tensor)).map(({at}) => at[2]);
	return !causal && right > 0 && rows.length > 0 && rows.every((row) => row === right)
		? ` The queries before it are right with that key, too: it is query ${right} that is wrong, not the key.` : '';
}

function makeReplay(run, described, replays) {
	const steps = [...replays.steps].sort((a, b) => a.keys - b.keys);
	const N = run.result.problem.seq, tile = (described.tile || [])[1] || 0;
	if (steps.length === 0)
		return '';
	const wrongs = steps.filter((step) => step.wrong), first = wrongs[0];
	const wrong = first ? first.keys : N, right = Math.max(0, ...steps.filter((step) => !step.wrong && step.keys < wrong).map((step) => step.keys));
	const mistake = findMistake(described, replays, [...new Set([tile, right, 1, 4, 8, 16, 32, 64].filter((n) => n > 0))]);
	const outputs = first ? first.outputs : described.maps.map((map) => ({tensor: map.tensor,
		wrong: map.first_wrong !== undefined, at: [], ...middleOf(map, map.first || map.worst)}));
	const [reach, look] = reachOf(right, wrong, tile, N), notFinite = outputs.some((output) => !Number.isFinite(number(output.got)));
	const isRight = outputs.some(({tensor, wrong}) => tensor === 'O' && !wrong); // what is said of O then is of no use
	const alone = first ? queryAlone(outputs, right, run.result.problem) : '';
	const chip = (keys, isBad) => element('span', {class: `badge ${isBad ? 'wrong' : 'right'}`}, `${keys} ${isBad ? '\u2717' : '\u2713'}`);
	const at = (output) => output.at.length ? `${output.tensor}[${output.at.join(', ')}]` : output.name || output.tensor;
	const row = coordinatesOf({shape: [run.result.problem.batch, run.result.problem.heads, N], columns: 1}, replays.row || 0, 0);
	return element('section', {class: 'stack column', 'data-replay': `${right},${wrong}`, 'aria-label': `From which key on ${described.name} is wrong`},
		element('h3', {}, 'From which key on it is wrong', element('span', {class: 'dim small'}, ' each time with as many queries as keys')),
		element('p', {class: 'reach'}, reach, alone || (mistake || notFinite || isRight ? '' : ` ${look}`)),
		mistake ? element('p', {class: 'mistake'}, `Row [${row.join(', ')}] is, but for rounding, `, element('b', {}, mistake))
			: element('p', {class: 'advice'}, adviceOf(outputs), notFinite && !isRight && run.result.problem.causal
				? ' The first row may see one key, its own: is the mask a key too strict?' : ''),
		element('p', {class: 'small dim badge-line'}, `The kernel was run again on the first keys and queries alone, each time against a reference of its own. Keys: `,
			steps.map((step) => [chip(step.keys, step.wrong), ' ']), chip(N, true), ' the run.'),
		element('ul', {class: 'small'}, outputs.map((output) => element('li', {}, `With ${plural(wrong, 'key')}, `,
			element('code', {}, at(output)), output.wrong ? ` is ${figure(number(output.got), 6)}, expected ${figure(number(output.expected), 6)}` +
				`${/^[Olm]?$|^d/.test(output.tensor) ? '' : `: ${senseOf(output)}`}.` : `: ${output.tensor} is right.`))));
}
