/*
 * The online softmax, update by update, in fp32 as the kernel computes it: m the largest value so far, l the sum of
 * exp(x - m) so far, o that of exp(x - m) v, and the correction exp(m_old - m) that l and o are multiplied by when m grew.
 */

const fround = Math.fround, mostValues = 4096;

/* exp(x - m), 0 where nothing has been seen: as the kernels' weight(). */
function weigh(x, m) {
	return m === -Infinity ? 0 : fround(Math.exp(fround(x - m)));
}

/* [{first, end, blockMax, m, before, correction, added, l, addedO, o}], without the correction where it is forgotten. */
function onlineUpdates(values, v, width, forget) {
	const updates = [];
	let m = -Infinity, l = 0, o = 0;
	for (let first = 0; first < values.length; first += width) {
		const part = values.slice(first, first + width), before = {m, l, o};
		const blockMax = Math.max(...part);
		m = Math.max(m, blockMax);
		const correction = weigh(before.m, m);
		const added = part.reduce((sum, x) => fround(sum + weigh(x, m)), 0);
		const addedO = part.reduce((sum, x, j) => fround(sum + fround(weigh(x, m) * v[first + j])), 0);
		l = fround(fround((forget ? 1 : correction) * before.l) + added);
		o = fround(fround((forget ? 1 : correction) * before.o) + addedO);
		updates.push({first, end: first + part.length, blockMax, m, before, correction, added, l, addedO, o});
	}
	return updates;
}

/* A column of V to go with any row: small whole numbers. */
function someColumn(count) {
	return Array.from({length: count}, (_, j) => [4, -2, 1, 3, -1, 2][j % 6]);
}

/* Two passes over all values, in double. */
function standardSoftmax(values, v) {
	const m = Math.max(...values);
	const l = m === -Infinity ? 0 : values.reduce((sum, x) => sum + Math.exp(x - m), 0);
	const weights = values.map((x) => l > 0 ? Math.exp(x - m) / l : 0);
	return {m, l, weights, output: weights.reduce((sum, weight, j) => sum + weight * v[j], 0)};
}

/* The values of a text, or {error}: one line that says what is wrong and what was expected. */
function parseValues(text) {
	const parts = text.trim().replace(/[,\s]+$/, '').split(/[,\s]+/);
	const values = [];
	if (text.trim() === '')
		return {error: 'No values. Write numbers, or -inf, between commas: 1, 2, 3.'};
	for (const [i, part] of parts.entries()) {
		const word = part.replaceAll('\u2212', '-').replaceAll('\u221e', 'inf');
		const isNumber = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(word);
		const value = /^-inf(inity)?$/i.test(word) ? -Infinity : isNumber ? fround(Number(word)) : NaN;
		if (Number.isNaN(value) || value === Infinity || (value === -Infinity && /\d/.test(word)))
			return {error: `Value ${i + 1}, \u201c${part.slice(0, 20)}\u201d: expected a number that fits fp32, or -inf.`};
		values.push(value);
	}
	return values.length > mostValues ? {error: `${values.length} values: at most ${mostValues} fit this page.`} : {values};
}
