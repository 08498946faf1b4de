/* The pictures of the online softmax: the row, block by block, the weights it has so far, and what they make of V. */

const chartRoom = {left: 8, right: 114}; /* pixels beside the bars; the labels of m stand on the right */

/* Where bar i stands: {x, width}; many values stand close together. */
function makeBars(count, width) {
	const each = (width - chartRoom.right - chartRoom.left) / count, many = count > 40;
	const pad = many ? 0 : Math.min(6, each * 0.15);
	return {many, each, end: width - chartRoom.right, edge: (i) => chartRoom.left + i * each,
		middle: (i) => chartRoom.left + (i + 0.5) * each,
		place: (i) => ({x: chartRoom.left + i * each + pad, width: Math.max(each - 2 * pad, 0.7)})};
}

function makeSvg(width, height, kind, label, parts) {
	return element('svg', {class: `chart ${kind}`, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label}, parts);
}

function axisAt(bars, y) {
	return element('line', {class: 'axis', x1: chartRoom.left, x2: bars.end, y1: y, y2: y});
}

/* The values as bars: read before, the block now, not read yet; the maximum as a line. now: an update, or null. */
function drawRow(values, now) {
	const width = innerWidth <= 700 ? 400 : 720, height = 250, top = 26, bottom = height - 34;
	const bars = makeBars(values.length, width), finite = values.filter(Number.isFinite);
	const high = Math.max(...finite, 0), low = Math.min(...finite, 0), span = high - low || 1;
	const y = (value) => top + (bottom - top) * (high - value) / span;
	/* Where the numbers have no room beside each other, none is written; the tables have them. */
	const hasRoom = bars.each >= 4 + 7.5 * Math.max(0, ...finite.map((value) => figure(value, 3).length));

	const bar = (value, i) => {
		const kind = !now || i >= now.end ? 'later' : i >= now.first ? 'now' : 'past';
		const middle = {x: bars.middle(i), 'text-anchor': 'middle'};
		if (value === -Infinity)
			return bars.many ? [] : [element('text', {...middle, y: y(0) - 5}, '\u2212\u221e')];
		const tip = Math.min(y(value), y(0)), tall = Math.max(Math.abs(y(value) - y(0)), 1.5);
		const rect = element('rect', {class: kind, ...bars.place(i), y: tip, height: tall, rx: bars.many ? 0 : 3,
			style: bars.many ? 'stroke:none' : null});
		const text = {...middle, class: 'value', y: value >= 0 ? tip - 6 : tip + tall + 15};
		return hasRoom ? [rect, element('text', text, figure(value, 3))] : [rect];
	};
	const line = (value, kind, text) => !Number.isFinite(value) ? [] : [
		element('line', {class: kind, x1: chartRoom.left, x2: bars.end + 4, y1: y(value), y2: y(value)}),
		element('text', {class: 'tag', x: bars.end + 8, y: y(value) + 4}, text)];
	const brace = () => element('path', {fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5,
		d: `M${bars.edge(now.first) + 2} ${height - 12}v5H${bars.edge(now.end) - 2}v-5`});

	const parts = [...values.flatMap(bar), axisAt(bars, y(0))];
	if (now)
		parts.push(brace(), ...(now.before.m === now.m ? [] : line(now.before.m, 'before', 'before')),
			...line(now.m, 'maximum', `m = ${figure(now.m, 4)}`));
	return makeSvg(width, height, 'bars', now ? `Values ${now.first} to ${now.end - 1} of ${values.length} are the current block`
		: `${values.length} values`, parts);
}

/* Weights: filled as the online softmax has them now, outlined as the standard softmax gives them in the end. */
function drawWeights(got, standard, isOff) {
	const width = innerWidth <= 700 ? 400 : 720, height = 170, top = 12, bottom = height - 8;
	const bars = makeBars(got.length, width), high = Math.max(...standard, ...got, 1e-9);
	const y = (weight) => bottom - (bottom - top) * weight / high;
	const parts = got.flatMap((weight, i) => {
		const {x, width: wide} = bars.place(i), inset = bars.many ? 0 : 0.12 * wide;
		const filled = weight > 0 && element('rect', {class: 'online' + (isOff ? ' off' : ''), x: x + inset, y: y(weight),
			width: wide - 2 * inset, height: bottom - y(weight)});
		const outline = standard[i] > 0 && element('path', {class: 'standard', style: bars.many ? 'stroke-width:0.8' : null,
			d: `M${x} ${bottom}V${y(standard[i])}h${wide}V${bottom}`});
		/* Thin bars would drown under their outlines. */
		return (bars.many ? [outline, filled] : [filled, outline]).filter(Boolean);
	});
	return makeSvg(width, height, 'weights', 'Weights: filled as the online softmax has them now, outlined as the standard ' +
		'softmax gives them', [...parts, axisAt(bars, bottom)]);
}

/* A column of V, what has been read filled as far as it weighs; O so far as a line, O of the standard softmax dashed. */
function drawValues(v, got, output, standard, isOff) {
	const width = innerWidth <= 700 ? 400 : 720, height = 170, top = 16, bottom = height - 16;
	const bars = makeBars(v.length, width), high = Math.max(...v, 0), low = Math.min(...v, 0), span = high - low || 1;
	const y = (value) => top + (bottom - top) * (high - Math.max(low, Math.min(high, value))) / span, most = Math.max(...got, 1e-9);
	const box = (value, kind, i, style) => element('rect', {class: kind, ...bars.place(i), y: Math.min(y(value), y(0)),
		height: Math.max(Math.abs(y(value) - y(0)), 1), rx: bars.many ? 0 : 3, style: bars.many ? `stroke:none;${style}` : style});
	const line = (value, kind, text, above) => !Number.isFinite(value) ? [] : [
		element('line', {class: kind, x1: chartRoom.left, x2: bars.end + 4, y1: y(value), y2: y(value)}),
		text ? element('text', {class: 'tag', x: bars.end + 8, y: y(value) + (above ? -3 : 4)}, text) : ''];
	const parts = v.flatMap((value, i) => [box(value, 'later', i, ''),
		got[i] > 0 ? box(value, `online${isOff ? ' off' : ''}`, i, `opacity:${(0.25 + 0.75 * got[i] / most).toFixed(2)}`) : '']);
	return makeSvg(width, height, 'column', `A column of V, ${v.length} values; O is ${figure(output, 4)} so far, ${figure(standard, 4)} in the end`,
		[...parts.filter(Boolean), axisAt(bars, y(0)), ...line(standard, 'before', ''), ...line(output, 'maximum', `O = ${figure(output, 4)}`)]);
}
