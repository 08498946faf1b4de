/*
 * Memory traffic: kernels side by side on one clock. The steps are here; what is seen, in race, stage and inspector. With reduced
 * motion nothing plays here or in another view: the end is shown at once.
 */

const raceSeconds = 12, speeds = [1, 1 / 4, 1 / 16, 1 / 64]; /* seconds that all of it takes at the first of these */

/*
 * Where a kernel stands: `done` groups are over, `group` moves now or was the last that did, and `share` of it is over.
 * `clock` is bytes, the same for all; `step` counts the events before it, and so tells groups apart that need no bytes.
 */
function placeAt(kernel, ownEvents, step, clock) {
	let low = 0, high = ownEvents.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (ownEvents[middle] < step)
			low = middle + 1;
		else
			high = middle;
	}
	const finished = low === kernel.groups.length, last = low > 0 ? kernel.groups[low - 1] : null;
	const start = last ? last.end : 0, next = finished ? null : kernel.groups[low];
	const moved = Math.min(clock, kernel.total);
	if (next && moved > start) {
		const share = (moved - start) / next.bytes, before = last || {readEnd: 0, writtenEnd: 0};
		const part = (key) => before[key] + Math.round(share * (next[key] - before[key]));
		return {done: low, group: next, finished: false, live: true, share, read: part('readEnd'), written: part('writtenEnd')};
	}
	return {done: low, group: last, finished, live: !!last && (!finished || ownEvents[low - 1] === step - 1), share: 1,
		read: last ? last.readEnd : 0, written: last ? last.writtenEnd : 0};
}

function makeLegend(kernels) {
	const entries = [['swatch-load', 'loaded now'], ['swatch-store', 'stored now, hatched (in blue: loaded too)'],
		['swatch-seen', 'read before'], ['swatch-written', 'written before']];
	if (kernels.some((kernel) => kernel.adds))
		entries.push(['swatch-atomic', 'atomically added now, hatched']);
	return element('p', {class: 'legend'},
		entries.map(([swatch, text]) => element('span', {}, element('i', {class: swatch}), text)));
}

const trafficNote = 'The clock is bytes: every kernel gets the same bandwidth of global memory, so one that needs fewer bytes is done ' +
	`sooner. While it plays, bytes move at one constant rate: all of it takes ${raceSeconds} seconds, and \u00d71/N is N times slower. Bytes are those ` +
	'that the threads request, before any cache; a footprint counts each byte once per launch. A step ends at a barrier; blocks are shown one after ' +
	'the other. What stays in registers leaves no trace: their lane shows what enters and leaves them.';

/*
 * The course’s one ratio: the footprint of the first kernel, beside all that the second one requests. What the threads of the first
 * one request comes after it, and that nobody has counted how much of that a cache would serve.
 */
function tellHeadline(all) {
	const [most, least] = (data.headline || []).map((name) => all.find((kernel) => kernel.name === name));
	if (!most || !least)
		return '';
	const {read_bytes: read, write_bytes: written} = most.result.hbm.footprint, times = (some) => `${figure(some / least.total, 2)}\u00d7`;
	return [element('b', {}, `${times(read + written)} fewer bytes. `), `${least.label} requests ${count(least.total)} bytes. ${most.label} touches ` +
		`${count(read + written)}: its footprint, each byte counted once per launch. Its threads request the same bytes again and again, ` +
		`${count(most.total)} in all, ${times(most.total)}. Caches may serve these repeats: no cache is simulated, so how many is not counted here.`];
}

function makeTrafficView() {
	const all = tracedKernels();
	if (all.length === 0)
		return null;
	const events = mergeClocks(all), ownEvents = all.map(() => []);
	events.forEach((event, e) => ownEvents[event.kernel].push(e));
	let wanted = [], shown = [], step = 0, clock = 0, timer = 0, inspected = null, speed = 1;
	const totals = all.map((kernel) => kernel.total).sort((a, b) => b - a);
	const rate = totals[0] / raceSeconds; /* bytes a second at \u00d71 */
	let guesses = data.predict && all.length > 1 ? null : new Map(); /* null: not asked yet */

	const placeOf = (kernel) => placeAt(kernel, ownEvents[all.indexOf(kernel)], step, clock);
	const showInspected = () => inspected && inspector.show(inspected.kernel, inspected.tile, placeOf(inspected.kernel).done);
	const race = makeRace(all), inspector = makeInspector();
	const forms = data.forms ? makeForms(data.forms, all) : element('div');
	forms.hidden = true;
	const blocks = makeBlocks(all);
	const stage = makeStage(all, (kernel, tile) => {
		if (tile)
			inspected = {kernel, tile};
		showInspected();
	});

	/* ---- the story, on the same stage ---- */
	const story = makeStory(all, events, (to, kernel, lanes) => {
		if (!shown.includes(kernel)) /* there is no room for all */
			show([kernel.name]);
		step = to;
		clock = events[to - 1].at;
		draw();
		stage.tell(kernel, lanes);
	}, () => {
		step = clock = 0;
		controls.forEach((part) => { part.hidden = false; });
		question.hidden = guesses !== null;
		show(wanted);
	});

	/* ---- steps ---- */
	const summary = () => all.map((kernel) => {
		const {group, finished, read, written} = placeOf(kernel), text = `${kernel.label}: ${finished ? 'done, ' : ''}`;
		return text + `${count(read + written)} bytes` + (group && !finished ? `, ${progressOf(kernel, group)}` : '');
	}).join('. ');

	const clockLine = element('p', {class: 'clock'}), stretched = element('span'), headline = element('p', {class: 'headline', hidden: true}, tellHeadline(all));
	const speedButton = element('button', {type: 'button', class: 'button speed', title: 'How fast bytes move',
		onclick: () => setSpeed(speeds[(speeds.indexOf(speed) + 1) % speeds.length])});
	const setSpeed = (to) => {
		speed = to;
		const name = `\u00d71${speed < 1 ? `/${1 / speed}` : ''}`, {device, rate: most} = data.bandwidth || {};
		setText(speedButton, name);
		speedButton.setAttribute('aria-label', `Speed: ${name}`);
		setText(stretched, most ? `Time is stretched ${count(Number((most / rate / speed).toPrecision(2)))} times: the global memory of an ${device} moves ${figure(most / 1e12)} TB/s.` : '');
	};
	const clocked = element('b'), stepped = element('span');
	clockLine.append(clocked, stepped, stretched);
	const running = () => all.filter((kernel) => !placeOf(kernel).finished);
	const draw = () => {
		race.draw(all.map(placeOf), clock, guesses);
		stage.draw(placeOf);
		stage.node.classList.toggle('playing', timer !== 0 || story.isOpen());
		setText(clocked, count(Math.round(clock)));
		setText(stepped, ` bytes, ${running().length ? 'for each kernel that still runs' : 'the most of one kernel: all are done'}. Step ${count(step)} of ${count(events.length)}. `);
		stretched.hidden = guesses === null;
		headline.hidden = running().length > 0 || story.isOpen() || !data.headline;
		/* The closed forms would tell the totals. */
		forms.hidden = forms.hidden && (story.isOpen() || running().length > (all.length > 1 ? 1 : 0));
		player.show(`step ${step} of ${events.length}: ${summary()}`);
	};

	const stop = () => {
		cancelAnimationFrame(timer);
		timer = 0;
	};
	const moveTo = (to) => {
		step = Math.max(0, Math.min(events.length, to));
		clock = step > 0 ? events[step - 1].at : 0;
		if (step > 0 && guesses === null && !story.isOpen())
			closePrediction(new Map());
		draw();
		showInspected();
	};
	const link = () => state.set({s: step || null});
	const set = (to) => {
		stop();
		story.close();
		moveTo(to);
		link();
		say(summary());
	};

	/* Bytes move at a constant rate, all the way. */
	let lastFrame = 0, lastWords = 0;
	const tick = (now) => {
		if (isQuiet()) /* asked for while it plays */
			return set(events.length);
		const before = running().length, seconds = lastFrame ? Math.min(0.3, Math.max(0, (now - lastFrame) / 1000)) : 0;
		lastFrame = now;
		clock = Math.min(totals[0], clock + speed * rate * seconds);
		while (step < events.length && events[step].at <= clock)
			step++;
		if (step > 0 && guesses === null)
			closePrediction(new Map());
		if (running().length < before)
			say(summary());
		timer = step < events.length ? requestAnimationFrame(tick) : 0;
		/* Words are laid out: now and then. What moves is not: in every frame. */
		if (!timer || running().length < before || now - lastWords >= wordsEvery || !race.move(all.map(placeOf), clock)) {
			lastWords = now;
			draw();
		} else
			stage.move(placeOf);
		if (!timer)
			link();
	};
	/* The address follows when it stops: browsers take a few changes a second, and this is more. */
	const play = () => {
		if (timer) {
			stop();
			link();
		} else if (isQuiet()) {
			return set(events.length);
		} else {
			story.close();
			if (step === events.length)
				moveTo(0);
			lastFrame = 0;
			timer = requestAnimationFrame(tick);
		}
		draw();
	};
	const player = makePlayer({count: () => events.length, value: () => story.isOpen() ? 0 : step, set, play, isPlaying: () => timer !== 0}, 'Step');

	player.node.append(speedButton);
	setSpeed(1);

	/* ---- which kernels are on the stage ---- */
	const chips = element('div', {class: 'chips', role: 'group', 'aria-label': 'Kernels shown'});
	const most = () => innerWidth <= 700 ? 1 : innerWidth <= 1000 ? 2 : 3;
	/* `wanted` may be more than there is room for now: it comes back when the window grows. */
	const show = (names) => {
		const narrow = innerWidth <= 700, laneWidth = narrow ? 0 : 104;
		wanted = names;
		const chosen = all.filter((kernel) => wanted.includes(kernel.name));
		shown = (chosen.length ? chosen : all).slice(0, most());
		chips.hidden = all.length <= most() || story.isOpen();
		chips.replaceChildren(...all.map((kernel) => element('button', {type: 'button', class: 'chip kernel', style: ownColor(kernel.name),
			'aria-pressed': shown.includes(kernel), onclick: () => choose(kernel)}, kernel.label)));
		stage.build(shown, Math.min(innerWidth, 1360) - (narrow ? 32 : 48), laneWidth);
		draw();
	};
	const names = () => shown.map((kernel) => kernel.name);
	/* One that is shown goes, another one comes; the first makes room where there is none. */
	const choose = ({name, label}) => {
		const others = names().filter((other) => other !== name), on = others.length < shown.length;
		const next = on ? others : [...others.slice(Math.max(0, others.length - most() + 1)), name];
		if (next.length === 0)
			return;
		show(next);
		[...chips.children].find((chip) => chip.textContent === label).focus();
		state.set({k: names().join(',')});
	};

	/* ---- the page ---- */
	const question = element('div', {hidden: guesses !== null});
	const closePrediction = (made) => {
		guesses = made;
		if (question.contains(document.activeElement))
			focusView();
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

	const scene = element('div', {class: 'scene'});
	const playing = element('div', {}, player.node, clockLine, headline), controls = [playing, race.node, inspector.node, ...blocks.node.hidden ? [] : [blocks.node]];
	const node = element('div', {class: 'stack', id: 'traffic'}, question, race.node, playing, chips, scene,
		makeLegend(all), inspector.node, blocks.node, forms, element('p', {class: 'note'}, trafficNote));
	question.hidden = guesses !== null || story.isOpen();
	if (story.isOpen())
		controls.forEach((part) => { part.hidden = true; });
	const restore = () => {
		stop();
		inspected = null;
		inspector.clear();
		const to = state.whole('s', events.length, 0);
		if (to > 0)
			story.close();
		step = to;
		clock = step > 0 ? events[step - 1].at : 0;
		if (step > 0 && guesses === null)
			closePrediction(new Map());
		wanted = (state.get('k') || '').split(',');
		again();
	};
	const again = () => {
		/* On a telephone the caption lies below the picture, at the edge of the screen: above it, it would push the picture off. */
		scene.replaceChildren(...innerWidth <= 700 ? [stage.node, story.node] : [story.node, stage.node]);
		show(wanted);
		blocks.draw();
		story.begin();
	};
	return {id: 'traffic', name: 'Memory traffic', node, keys: ['s', 'k'], restore, key: player.key, stop, resized: again,
		themed: again};
}
