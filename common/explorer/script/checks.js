/* This run: verdicts, where an output is wrong, counts against closed forms, hazards. */

function makeBadge(kernel) {
	const [kind, text] = kernel.skipped ? ['skipped', '\u2013 skipped']
		: kernel.verified ? ['right', '\u2713 verified'] : ['wrong', '\u2717 FAILED'];
	return element('span', {class: `badge ${kind}`}, text);
}

const aroundIt = 'Around it: above what came out, below what the double-precision reference says.';

function tellWrong(map, wrong, checked) {
	const first = middleOf(map, map.first), worst = middleOf(map, map.worst);
	const isOther = worst.name !== first.name;
	return [
		element('p', {}, element('b', {class: 'error'}, `${count(wrong)} of ${plural(checked, 'tile')} wrong. `),
			'The first, ringed: ', element('b', {}, tileName(map, map.first_wrong)), '.'),
		element('p', {}, element('code', {}, first.name), ` is ${figure(first.got, 7)}, expected ${figure(first.expected, 7)}.`),
		element('p', {class: 'dim small'}, aroundIt), makeWindow(map, map.first),
		isOther ? element('details', {}, element('summary', {},
			`The worst, ${worst.name}: ${figure(worst.got, 5)}, expected ${figure(worst.expected, 5)}`), makeWindow(map, map.worst)) : ''];
}

function tellRight(map, checked) {
	const worst = middleOf(map, map.worst);
	return [
		element('p', {}, `All ${plural(checked, 'tile')} right. `, element('span', {class: 'dim'},
			`Worst: ${worst.name} = ${figure(worst.got, 7)}, expected ${figure(worst.expected, 7)}; ` +
			`error ${figure(number(map.worst_error), 2)}, tolerance ${figure(number(map.worst_tolerance), 2)}.`)),
		element('details', {}, element('summary', {}, 'What stands around it'), element('p', {class: 'dim small'}, aroundIt),
			makeWindow(map, map.worst))];
}

function makeOutput(map) {
	const ratios = map.ratios.map(number), wrong = ratios.filter(isWrong).length;
	const checked = ratios.filter((ratio) => ratio !== -1).length;
	const shape = `[${map.shape.join(', ')}], tiles of ${map.tile_rows} \u00d7 ${map.tile_columns}`;
	return element('section', {'data-output': map.tensor, 'aria-label': `Output ${map.tensor}`},
		element('h3', {}, `${map.tensor} `, element('span', {class: 'dim small'}, shape)),
		element('div', {class: 'output'}, makeHeat(map, ratios),
			element('div', {class: 'stack column'}, wrong ? tellWrong(map, wrong, checked) : tellRight(map, checked))));
}

function makeCounts(kernel, described) {
	const models = [kernel.model, kernel.model_requested, kernel.model_footprint].filter(Boolean);
	if (models.length === 0 || described.measured.length === 0)
		return '';
	const row = (model, i) => {
		const got = described.measured[i], counted = got.read_elements + got.write_elements, off = counted - model.elements;
		const equal = got.read_elements === model.read_elements && got.write_elements === model.write_elements;
		const says = equal ? '\u2713 equal' : off === 0 ? '\u2717 reads and writes differ'
			: `\u2717 ${count(Math.abs(off))} too ${off > 0 ? 'many' : 'few'}`;
		return element('tr', {'data-equal': String(equal)},
			element('td', {}, model.counts, ' ', element('code', {class: 'dim'}, model.formula)), element('td', {}, count(model.elements)),
			element('td', {}, count(counted)), element('td', {class: equal ? null : 'error'}, says));
	};
	const heads = ['elements of global memory', 'closed form', 'counted', ''].map((name) => element('th', {scope: 'col'}, name));
	return element('div', {class: 'scroll'}, element('table', {}, element('thead', {}, element('tr', {}, heads)),
		element('tbody', {}, models.map(row))));
}

/* ---- hazards ---- */

const raceNames = {RAW: 'Race: read after write', WAR: 'Race: write after read', WAW: 'Race: two writes'};

function makeSnippet(run, path, line) {
	const place = placeOf(path || '', line || 0);
	return line ? element('pre', {class: 'mono'}, `${place}  ${sourceLine(run, place) || ''}`) : '';
}

function makeHazard(run, hazard) {
	const triple = (at) => `(${[].concat(at).join(', ')})`, {other} = hazard;
	const where = [hazard.tool, hazard.severity, [hazard.kernel || 'host', hazard.block && `block ${triple(hazard.block)}`,
		hazard.thread && `thread ${triple(hazard.thread)}`].filter(Boolean).join(', ')].join(' \u00b7 ');
	const hasIndex = hazard.index !== undefined && hazard.index !== null;
	return element('li', {'data-tool': hazard.tool},
		element('p', {}, element('b', {}, raceNames[hazard.kind] || hazard.kind.replaceAll(/[-_]/g, ' ')), ` \u00b7 ${where}`,
			hazard.count > 1 ? `, ${count(hazard.count)} times` : ''),
		hazard.array ? element('p', {class: 'dim small'}, hazard.array, hasIndex ? `, element ${hazard.index}` : '') : '',
		makeSnippet(run, hazard.file, hazard.line),
		!other || !other.line ? '' : [
			element('p', {class: 'dim small'}, `against ${other.op || 'an access'} by thread ${triple(other.thread)}`),
			makeSnippet(run, other.file || hazard.file, other.line)]);
}

function makeHazards(run) {
	const list = (hazards) => element('ul', {class: 'hazards'}, hazards.map((hazard) => makeHazard(run, hazard)));
	const shown = 4, more = run.hazards.length - shown;
	return element('section', {class: 'card stack column', 'aria-label': 'Hazards'},
		element('h2', {}, plural(run.hazards.length, 'hazard')),
		list(run.hazards.slice(0, shown)),
		more > 0 ? element('details', {}, element('summary', {}, `${more} more`), list(run.hazards.slice(shown))) : '');
}

/* ---- the page ---- */

function makeKernelCard(kernel, described) {
	const failure = kernel.failure ? element('p', {class: 'error'}, kernel.failure) : '';
	const body = kernel.skipped ? element('p', {class: 'note'}, kernel.skipped)
		: element('div', {class: 'kernel-body'}, failure, described.maps.map(makeOutput), makeCounts(kernel, described));
	return element('section', {class: 'card', 'data-kernel': kernel.name, 'aria-label': kernel.name},
		element('div', {class: 'kernel-head'}, element('h2', {}, kernel.name), makeBadge(kernel),
			element('span', {class: 'dim'}, described.summary)), body);
}

function makeVerdict({result, hazards}) {
	const ran = result.kernels.filter((kernel) => !kernel.skipped), all = ran.length;
	const failed = ran.filter((kernel) => !kernel.verified).length;
	if (failed)
		return element('p', {class: 'error'}, all === 1 ? 'The kernel failed.' : `${failed} of ${all} kernels failed.`);
	const who = {1: 'The kernel is', 2: 'Both kernels are'}[all] || `All ${all} kernels are`;
	return element('p', {}, element('b', {class: 'good'}, `${who} right: `), 'outputs within tolerance of the double-precision ' +
		`reference, counts equal to their closed forms, ${hazards.length ? 'the hazards below no errors' : 'no hazards'}.`);
}

/* The page of `make explorer` has several runs, all of them verified: it shows none of this. */
function makeChecksView() {
	if (data.runs.length !== 1)
		return null;
	const run = data.runs[0], {kernels} = run.result;
	const cards = kernels.map((kernel, i) => makeKernelCard(kernel, run.kernels[i]));
	/* What is wrong comes first. */
	const order = kernels.map((_, i) => i).sort((a, b) => kernels[a].verified - kernels[b].verified || a - b);
	const noTraffic = run.no_trace || (tracedKernels().length === 0 ? 'No launch came to its end.' : '');
	const node = element('div', {class: 'stack', id: 'checks'}, makeVerdict(run), run.hazards.length ? makeHazards(run) : '',
		order.map((i) => cards[i]),
		noTraffic ? element('p', {class: 'note'}, `No picture of the memory traffic: ${noTraffic}`) : '',
		run.no_steps ? element('p', {class: 'note'}, `No steps of the online softmax: ${run.no_steps}`) : '');
	const nothing = () => {};
	return {id: 'checks', name: 'This run', node, keys: [], restore: nothing, key: nothing, stop: nothing, resized: nothing,
		themed: nothing};
}
