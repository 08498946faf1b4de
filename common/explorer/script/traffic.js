/* Memory traffic: kernels side by side on one clock. The steps are here; what is seen, in race, stage and inspector. */

const slow = 420, fast = 40, calm = 250; /* milliseconds a step */

/* Where a kernel stands after `step` events: groups done, the last of them, and whether it moves now. */
function placeAt(kernel, ownEvents, step) {
	let low = 0, high = ownEvents.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (ownEvents[middle] < step)
			low = middle + 1;
		else
			high = middle;
	}
	const group = low > 0 ? kernel.groups[low - 1] : null, finished = low === kernel.groups.length;
	return {done: low, group, finished, live: !!group && (!finished || ownEvents[low - 1] === step - 1)};
}

function makeLegend(kernels) {
	const entries = [['swatch-load', 'loaded now'], ['swatch-store', 'stored now, hatched (in blue: loaded too)'],
		['swatch-seen', 'read before'], ['swatch-written', 'written before']];
	if (kernels.some((kernel) => kernel.adds))
		entries.push(['swatch-atomic', 'atomically added now']);
	return element('p', {class: 'legend'},
		entries.map(([swatch, text]) => element('span', {}, element('i', {class: swatch}), text)));
}

const trafficNote = 'The clock is bytes: every kernel gets the same bandwidth of global memory, so one that needs fewer bytes is done ' +
	'sooner. Bytes are those the threads ask for, before any cache. A step ends at a barrier; blocks are shown one after ' +
	'the other. What stays in registers leaves no trace: their lane shows what enters and leaves them.';

function makeTrafficView() {
	const all = tracedKernels();
	if (all.length === 0)
		return null;
	const events = mergeClocks(all), ownEvents = all.map(() => []);
	events.forEach((event, e) => ownEvents[event.kernel].push(e));
	let wanted = [], shown = [], step = 0, timer = 0, inspected = null;
	let guesses = data.predict && all.length > 1 ? null : new Map(); /* null: not asked yet */

	const placeOf = (kernel) => placeAt(kernel, ownEvents[all.indexOf(kernel)], step);
	const showInspected = () => inspected && inspector.show(inspected.kernel, inspected.tile, placeOf(inspected.kernel).done);
	const race = makeRace(all), inspector = makeInspector();
	const stage = makeStage(all, (kernel, tile) => {
		if (tile)
			inspected = {kernel, tile};
		showInspected();
	});

	/* ---- steps ---- */
	const summary = () => all.map((kernel) => {
		const {group, finished} = placeOf(kernel), text = `${kernel.label}: ${finished ? 'done, ' : ''}`;
		return text + `${count(group ? group.end : 0)} bytes` + (group && !finished ? `, ${progressOf(kernel, group)}` : '');
	}).join('. ');

	const clock = element('p', {class: 'clock'});
	const draw = () => {
		const at = step > 0 ? events[step - 1].at : 0;
		race.draw(all.map(placeOf), at, guesses);
		stage.draw(placeOf);
		showInspected();
		clock.replaceChildren('Clock: ', element('b', {}, count(at)), ' bytes of global memory for every kernel that still runs. ',
			`Step ${count(step)} of ${count(events.length)}.`);
		player.show(`step ${step} of ${events.length}: ${summary()}`);
	};

	const stop = () => {
		clearTimeout(timer);
		timer = 0;
	};
	const moveTo = (to) => {
		step = Math.max(0, Math.min(events.length, to));
		if (step > 0 && guesses === null)
			closePrediction(new Map());
		draw();
	};
	const link = () => state.set({s: step || null});
	const set = (to) => {
		stop();
		moveTo(to);
		link();
		say(summary());
	};

	/* Slow while there is something to compare; what the longest does alone at the end is over in seconds. */
	const tick = () => {
		const running = () => all.filter((kernel) => !placeOf(kernel).finished).length;
		const before = running(), alone = all.length > 1 && before <= 1;
		moveTo(step + (alone ? Math.ceil(events.length / 220) : 1));
		if (running() < before)
			say(summary());
		if (step < events.length) {
			timer = setTimeout(tick, !alone ? slow : isQuiet() ? calm : fast);
			return;
		}
		stop();
		link();
		draw();
	};
	/* The address follows when it stops: browsers take a few changes a second, and this is more. */
	const play = () => {
		if (timer) {
			stop();
			link();
		} else {
			step = step < events.length ? step : 0;
			timer = setTimeout(tick, 0);
		}
		draw();
	};
	const player = makePlayer({count: () => events.length, value: () => step, set, play, isPlaying: () => timer !== 0}, 'Step');

	/* ---- which kernels are on the stage ---- */
	const chips = element('div', {class: 'chips', role: 'group', 'aria-label': 'Kernels shown'});
	const most = () => innerWidth <= 700 ? 1 : innerWidth <= 1000 ? 2 : 3;
	/* `wanted` may be more than there is room for now: it comes back when the window grows. */
	const show = (names) => {
		const narrow = innerWidth <= 700, laneWidth = narrow ? 0 : 104;
		wanted = names;
		const chosen = all.filter((kernel) => wanted.includes(kernel.name));
		shown = (chosen.length ? chosen : all).slice(0, most());
		chips.hidden = all.length <= most();
		chips.replaceChildren(...all.map((kernel) => element('button', {type: 'button', class: 'chip',
			'aria-pressed': shown.includes(kernel), onclick: () => choose(kernel)}, kernel.label)));
		stage.build(shown, Math.min(innerWidth, 1360) - (narrow ? 32 : 48), laneWidth);
		draw();
	};
	const names = () => shown.map((kernel) => kernel.name);
	/* One that is shown goes, another one comes; the first makes room where there is none. */
	const choose = ({name}) => {
		const others = names().filter((other) => other !== name), on = others.length < shown.length;
		const next = on ? others : [...others.slice(Math.max(0, others.length - most() + 1)), name];
		if (next.length === 0)
			return;
		show(next);
		state.set({k: names().join(',')});
	};

	/* ---- the page ---- */
	const question = element('div', {hidden: guesses !== null});
	const closePrediction = (made) => {
		guesses = made;
		question.replaceChildren();
		question.hidden = true;
	};
	if (guesses === null)
		question.append(makePrediction(all, data.predict, (made) => {
			closePrediction(made);
			player.node.querySelector('.main').focus();
			if (step === 0)
				play();
		}));

	const node = element('div', {class: 'stack', id: 'traffic'}, question, race.node,
		element('div', {}, player.node, clock), chips, stage.node, makeLegend(all), inspector.node,
		data.forms ? makeForms(data.forms, all) : '', element('p', {class: 'note'}, trafficNote));
	const restore = () => {
		stop();
		inspected = null;
		inspector.clear();
		step = state.whole('s', events.length, 0);
		if (step > 0 && guesses === null)
			closePrediction(new Map());
		show((state.get('k') || '').split(','));
	};
	const again = () => show(wanted);
	return {id: 'traffic', name: 'Memory traffic', node, keys: ['s', 'k'], restore, key: player.key, stop, resized: again,
		themed: again};
}
