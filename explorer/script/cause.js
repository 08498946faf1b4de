/* Hazards: those with one cause are one; both accesses in their source. Where between them a barrier is missing: barrier.js. */

const raceNames = {RAW: 'read after write', WAR: 'write after read', WAW: 'two writes'};

/* Three lines of source, the one in the middle marked. */
function makeSnippet(run, path, line) {
	if (!line)
		return '';
	const place = placeOf(path || '', line), [file] = place.split(':');
	const rows = [line - 1, line, line + 1].map((n) => ({n, text: sourceText(run, `${file}:${n}`)})).filter(({text}) => text !== null);
	const indent = Math.min(...rows.filter(({text}) => text.trim()).map(({text}) => /^\t*/.exec(text)[0].length));
	const shown = ({n, text}) => `${n === line ? '\u25b8' : ' '}${String(n).padStart(4)}  ${text.slice(indent).replaceAll('\t', '  ')}\n`;
	return element('pre', {class: 'mono snippet'}, rows.length === 0 ? place
		: rows.map((row) => element('span', {class: row.n === line ? 'here' : null}, shown(row))));
}

/* The two places of a hazard, the later access first; null where there is no other. */
const sidesOf = (hazard) => [placeOf(hazard.file || '', hazard.line || 0),
	hazard.other && hazard.other.line ? placeOf(hazard.other.file || hazard.file || '', hazard.other.line) : null];

/* What it calls for, whatever the lines. */
const cureOf = (hazard) => (hazard.advice || '').replaceAll(/line \d+( \(in [^)]*\))?/g, 'line');

/*
 * Hazards by cause: races of a kernel that share a line and call for the same thing; a read of what is not written yet, of a
 * line in such a race; else those at one place. The first of a list is the one that is told: a read after a write, if any.
 */
function causesOf(hazards) {
	const causes = [];
	for (const hazard of [...hazards].sort((a, b) => (b.tool === 'racecheck') - (a.tool === 'racecheck'))) {
		const places = sidesOf(hazard).filter(Boolean), race = hazard.tool === 'racecheck';
		const joins = causes.filter((cause) => cause.kernel === hazard.kernel && places.some((place) => cause.places.has(place)) &&
			(race ? cause.race && cause.cure === cureOf(hazard) : cause.race ? hazard.tool === 'initcheck'
				: cause.list[0].kind === hazard.kind && cause.list[0].tool === hazard.tool));
		const into = joins[0] || {kernel: hazard.kernel, race, cure: cureOf(hazard), places: new Set(), list: []};
		if (!joins.length)
			causes.push(into);
		for (const other of joins.slice(1)) {
			into.list.push(...other.list);
			other.places.forEach((place) => into.places.add(place));
			causes.splice(causes.indexOf(other), 1);
		}
		into.list.push(hazard);
		places.forEach((place) => into.places.add(place));
	}
	for (const cause of causes)
		cause.list.sort((a, b) => (b.kind === 'RAW') - (a.kind === 'RAW'));
	return causes;
}

function arrayOf(run, hazard) {
	const hasIndex = hazard.index !== undefined && hazard.index !== null;
	const kernel = tracedKernels().find((one) => one.run === run && one.launches.some((launch) => launch.kernel === hazard.kernel));
	const region = hasIndex && regionAt(kernel, hazard.array, hazard.index * (hazard.bytes || 4));
	return hazard.array ? `${region ? `${region}, in ` : ''}${hazard.array}${hasIndex ? `, element ${hazard.index}` : ''}` : '';
}

const triple = (at) => `(${[].concat(at).join(', ')})`;

function makeRaceSides(run, cause) {
	const [hazard] = cause.list;
	const {other} = hazard, place = placeOf(hazard.file || '', hazard.line || 0);
	const otherPlace = placeOf(other.file || hazard.file || '', other.line || 0);
	const verb = {read: 'reads', write: 'writes', load: 'reads', store: 'writes'};
	const says = hazard.kind === 'RAW' ? 'reads' : 'writes', word = verb[other.op] || 'uses';
	const side = (when, thread, does, file, line) => element('div', {},
		element('p', {class: 'small'}, element('b', {}, when), ` thread ${triple(thread)} ${does}, ${placeOf(file, line)}`),
		makeSnippet(run, file, line));
	return [
		element('div', {class: 'sides'}, side('First', other.thread, word, other.file || hazard.file || '', other.line),
			side('Then', hazard.thread, says, hazard.file || '', hazard.line)),
		element('p', {class: 'small dim'}, place === otherPlace ? 'It is one line, run by two threads.'
			: 'No barrier lies between them, so nothing says which thread comes first: on a GPU the order changes from run to run.'),
		makeBarrierPlaces(run, cause, [otherPlace, place])];
}

function makeCause(run, cause) {
	const [hazard, ...rest] = cause.list, isRace = cause.race && hazard.other && hazard.other.line;
	const name = cause.race ? `Race: ${raceNames[hazard.kind] || hazard.kind}` : hazard.kind.replaceAll(/[-_]/g, ' ');
	const title = hazard.advice || name, where = arrayOf(run, hazard);
	const times = cause.list.reduce((sum, one) => sum + (one.count || 1), 0);
	const who = [hazard.advice ? name : '', hazard.tool, hazard.severity, `${hazard.kernel || 'host'}` +
		`${hazard.block ? `, block ${triple(hazard.block)}` : ''}` +
		`${hazard.thread && !isRace ? `, thread ${triple(hazard.thread)}` : ''}`, times > 1 ? `${count(times)} times` : ''];
	const pairs = [...new Set(rest.map((one) => [raceNames[one.kind] || one.kind, sidesOf(one).filter(Boolean).reverse().join(' then '),
		arrayOf(run, one)].filter(Boolean).join(' \u00b7 ')))];
	return element('li', {'data-tool': hazard.tool},
		element('h3', {}, title[0].toUpperCase() + title.slice(1)),
		element('p', {class: 'dim small'}, who.filter(Boolean).join(' \u00b7 ')),
		where ? element('p', {class: 'small'}, 'On ', element('b', {}, where)) : '',
		isRace ? makeRaceSides(run, cause) : makeSnippet(run, hazard.file, hazard.line),
		pairs.length ? element('details', {}, element('summary', {}, `The same cause: ${plural(pairs.length, 'more place')}`),
			element('ul', {class: 'small'}, pairs.map((pair) => element('li', {}, pair)))) : '');
}

function makeHazards(run) {
	const list = (causes) => element('ul', {class: 'hazards'}, causes.map((cause) => makeCause(run, cause)));
	const shown = 4, causes = withoutImplied(run, causesOf(run.hazards)), more = causes.length - shown;
	return element('section', {class: 'card stack column', 'aria-label': 'Hazards'},
		element('h2', {}, causes.length === 1 ? 'Why' : `${causes.length} causes`),
		list(causes.slice(0, shown)),
		more > 0 ? element('details', {}, element('summary', {}, `${more} more`), list(causes.slice(shown))) : '');
}
