/* Memory traffic: kernels side by side on one clock. HBM, shared memory and registers are lanes. */

function makeTrafficView() {
	const all = tracedKernels();
	if (all.length === 0)
		return null;
	const longest = Math.max(...all.map((kernel) => kernel.total), 1);
	const problem = all[0].run.result.problem;
	const events = mergeClocks(all), ends = all.map(() => []);
	events.forEach((event, e) => ends[event.kernel].push(e));
	let shown = [], step = 0, timer = 0, columns = [];
	let guesses = null; /* null: not asked yet */

	/* ---- the race ---- */
	const race = element('section', {class: 'race', 'aria-label': 'Bytes through HBM'});
	const raceRows = all.map((kernel) => {
		const track = element('i', {class: 'track'}), read = element('i', {class: 'read'}), written = element('i', {class: 'written'});
		const mark = element('i', {class: 'mark', hidden: true});
		const moved = element('b', {}), of = element('span', {class: 'dim'}), note = element('small', {});
		const node = element('div', {class: 'row', 'data-kernel': kernel.name},
			element('div', {class: 'name'}, kernel.label, element('small', {}, kernel.label === kernel.name ? kernel.summary : kernel.name)),
			element('div', {class: 'bar', 'aria-hidden': 'true'}, track, read, written, mark),
			element('div', {class: 'count'}, moved, ' ', of, note));
		return {kernel, node, track, read, written, mark, moved, of, note};
	});
	race.append(...raceRows.map((row) => row.node));

	/* Where a kernel stands after the step: groups done, bytes so far, the group shown, and whether it moves now. */
	const place = (index) => {
		const groups = all[index].groups, own = ends[index];
		let low = 0, high = own.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (own[middle] < step)
				low = middle + 1;
			else
				high = middle;
		}
		const group = low > 0 ? groups[low - 1] : null, finished = low === groups.length;
		return {done: low, group, finished, moved: group ? group.end : 0, live: group && (!finished || own[low - 1] === step - 1)};
	};
	const places = () => all.map((_, index) => place(index));

	/* How far the bars' scale reaches: to the second longest at first, then it grows with the clock. */
	const scaleOf = (clock) => {
		const totals = all.map((kernel) => kernel.total).sort((a, b) => b - a);
		return Math.min(longest, Math.max(totals[1] ? totals[1] * 1.25 : totals[0], clock * 1.02));
	};

	const drawRace = (places) => {
		const scale = scaleOf(step > 0 ? events[step - 1].at : 0), share = (value) => `${Math.min(100, 100 * value / scale)}%`;
		raceRows.forEach((row, index) => {
			const kernel = row.kernel, {group, finished, moved} = places[index];
			const sums = {read: group ? group.readEnd : 0, written: group ? group.writtenEnd : 0};
			Object.assign(row.node.dataset, sums);
			row.track.style.width = share(guesses === null ? longest : kernel.total);
			row.read.style.width = share(sums.read);
			row.written.style.left = share(sums.read);
			row.written.style.width = share(sums.written);
			row.moved.textContent = count(moved);
			row.moved.dataset.bytes = moved;
			row.of.textContent = guesses === null && !finished ? 'bytes' : `of ${count(kernel.total)} B`;
			row.note.className = finished ? 'done' : '';
			row.note.textContent = finished ? '\u2713 done' : progressText(kernel, group);
			const guess = guesses && guesses.get(kernel.name);
			row.mark.hidden = !guess;
			if (guess) {
				row.mark.style.left = `min(${share(guess)}, 100% - 2px)`;
				if (finished)
					row.note.textContent += ` \u00b7 you said ${bytes(guess)}: ${figure(guess / kernel.total, 3)}\u00d7 the truth`;
			}
		});
	};

	const progressText = (kernel, group) => {
		if (!group)
			return 'not started';
		const name = kernel.launches.length > 1 ? `${group.kernel}, ` : '';
		const size = group.header.grid[0] * group.header.grid[1] * group.header.grid[2];
		if (size === 1 && kernel.launches.length === 1)
			return `interval ${kernel.groups.indexOf(group) + 1} of ${kernel.groups.length}`;
		const [x, y, z] = group.block.split(',').map(Number);
		const block = x + group.header.grid[0] * (y + group.header.grid[1] * z);
		return `${name}block ${block + 1} of ${size}`;
	};

	/* ---- the stage ---- */
	const stage = element('section', {class: 'stage', 'aria-label': 'Where the bytes move'});
	const inspector = element('div', {class: 'card inspect', id: 'inspect'});
	let inspected = null;

	/* One scale for all that are shown: the widest matrix is as large as the fullest column has room for. */
	const gap = 10, thin = 20;
	const widest = Math.max(...all.flatMap((kernel) => kernel.tensors.map((tensor) => tensor.columns)));
	const widthOf = (tensor, big) => tensor.columns === 1 ? 8 : Math.max(thin, Math.round(big * tensor.columns / widest));
	const fullWidth = (kernel, big) => kernel.tensors.reduce((sum, tensor) => sum + widthOf(tensor, big) + gap, 0);
	const sizeFor = (widths) => {
		let big = 176;
		while (big > 64 && shown.some((kernel, i) => fullWidth(kernel, big) > widths[i]))
			big -= 4;
		return big;
	};
	/* A kernel with more to show gets a wider column, up to half as wide again. */
	const shares = () => {
		const wanted = shown.map((kernel) => fullWidth(kernel, 150)), least = Math.min(...wanted);
		return wanted.map((width) => Math.min(1.5, width / least));
	};

	const buildColumn = (kernel, big) => {
		const tallest = Math.max(...kernel.tensors.map((tensor) => tensor.rows));
		const views = kernel.tensors.map((tensor) => makeTensorView(tensor, kernel.run.result.problem, widthOf(tensor, big),
			Math.max(16, Math.round(big * tensor.rows / tallest)), (tile) => inspect(kernel, tile)));
		const shared = kernel.shared.map(makeSharedView);
		const flow = () => element('p', {class: 'flows'});
		const column = {kernel, views, shared, where: element('p', {class: 'where'}), hbm: flow(), chip: flow(), own: flow(),
			threads: element('div', {class: 'threads', 'aria-hidden': 'true'}, Array.from({length: 32}, () => element('i'))),
			code: element('div', {class: 'code'})};
		return column;
	};

	const regionsOf = (kernel, array) => {
		const regions = ((data.regions || {})[kernel.name] || []).filter((region) => region.array === array.name);
		if (regions.length === 0)
			return '';
		const wide = Math.max(120, Math.min(Math.ceil(array.bytes / 128) * 6, 420));
		return element('div', {class: 'regions', style: `max-width:${wide}px`}, regions.map((region) =>
			element('span', {style: `width:${100 * region.bytes / array.bytes}%`}, region.name)));
	};

	const buildStage = () => {
		const narrow = innerWidth <= 700;
		const parts = shares(), whole = parts.reduce((sum, part) => sum + part, 0);
		const width = narrow ? innerWidth - 32 : Math.min(innerWidth, 1360) - 48 - 104;
		readPalette();
		const big = sizeFor(parts.map((part) => width * part / whole - 36));
		columns = shown.map((kernel) => buildColumn(kernel, big));
		stage.style.setProperty('--columns', parts.map((part) => `minmax(0, ${part.toFixed(3)}fr)`).join(' '));
		const lane = (title, text) => element('div', {class: 'lane'}, element('h3', {}, title), element('p', {}, text));
		const cells = (make) => columns.map((column) => element('div', {class: 'content'}, make(column)));
		stage.replaceChildren(element('div', {class: 'corner'}),
			...columns.map((column) => element('div', {class: 'head'}, element('h3', {}, column.kernel.label), column.where)),
			lane('HBM', 'large, far'),
			...cells((column) => [element('div', {class: 'tensors'}, column.views.map((view) => element('div', {class: 'tensor'},
				element('span', {class: 'label', title: `${view.tensor.name} [${view.tensor.rows}, ${view.tensor.columns}]`}, view.tensor.name,
					widthOf(view.tensor, big) >= 60 ? element('small', {}, ` ${view.tensor.rows}\u00d7${view.tensor.columns}`) : ''),
				view.node))), column.hbm]),
			lane('Shared memory', 'of one block'),
			...cells((column) => column.shared.length ? [column.shared.map((view) => [view.node, regionsOf(column.kernel, view.array)]), column.chip]
				: [element('p', {class: 'unused'}, 'not used'), column.chip]),
			lane('Registers', 'of its threads'),
			...cells((column) => [column.threads, column.own]),
			lane('Source', 'what moved it'),
			...cells((column) => column.code));
		drawStage(places());
	};

	/* Marks what moved up to the step; from the start when it went back. */
	const advance = (column, done, live) => {
		const from = column.done !== undefined && column.done <= done ? column.done : 0;
		const parts = [...column.views, ...column.shared];
		if (from === 0)
			parts.forEach((part) => part.dots.before.fill(0));
		parts.forEach((part) => part.dots.now.fill(0));
		const mark = (group, which) => {
			for (const access of group.accesses) {
				const part = access.space === 'shared' ? column.shared.find((view) => view.array.name === access.tensor)
					: column.views.find((view) => view.tensor.name === access.tensor);
				if (part)
					access.ranges.forEach((range) => markRange(part.dots, part.dots[which], range, bitOf[access.op]));
			}
		};
		for (let g = from; g < done; g++) {
			/* Another block has its own shared memory: it starts empty. */
			if (g > 0 && column.kernel.groups[g].block !== column.kernel.groups[g - 1].block)
				column.shared.forEach((view) => view.dots.before.fill(0));
			mark(column.kernel.groups[g], 'before');
		}
		if (live && done > 0)
			mark(column.kernel.groups[done - 1], 'now');
		column.done = done;
		parts.forEach((part) => part.paint());
	};

	const showFlow = (node, sums, words) => {
		node.replaceChildren(...['load', 'store', 'atomic'].filter((op) => sums[op] > 0).map((op) =>
			element('span', {class: op}, element('b', {}, bytes(sums[op])), ' ' + words[op])));
	};

	const linesOf = (kernel, group) => {
		const lines = new Map();
		for (const access of group ? group.accesses : [])
			for (const line of access.lines)
				lines.set(line, access.space === 'global' ? 0 : lines.get(line) ?? 1);
		return [...lines].sort((a, b) => a[1] - b[1] || a[0] - b[0]).slice(0, 4).map(([line]) => line).sort((a, b) => a - b);
	};

	const drawStage = (places) => {
		columns.forEach((column) => {
			const kernel = column.kernel, {done, group, finished, live} = places[all.indexOf(kernel)];
			const now = live ? group : null;
			advance(column, done, live);
			column.where.textContent = !group ? 'waiting' : !live ? 'done' :
				`${kernel.launches.length > 1 ? group.kernel + ' \u00b7 ' : ''}block ${group.block.replace(/,0,0$/, '')} \u00b7 interval ${group.interval}` +
				(finished ? ' \u00b7 the last' : '');
			const idle = {accesses: []}, hbm = sumsOf(now || idle, 'global'), chip = sumsOf(now || idle, 'shared');
			showFlow(column.hbm, hbm, {load: 'read', store: 'written', atomic: 'added'});
			showFlow(column.chip, chip, {load: 'read', store: 'written', atomic: 'added'});
			const loads = hbm.load + chip.load, stores = hbm.store + chip.store + hbm.atomic + chip.atomic;
			showFlow(column.own, {load: loads, store: stores, atomic: 0}, {load: 'loaded', store: 'stored'});
			const part = loads + stores > 0 ? Math.round(32 * loads / (loads + stores)) : 0;
			const cut = loads && stores ? Math.min(31, Math.max(1, part)) : part;
			[...column.threads.children].forEach((cell, i) => { cell.className = loads + stores === 0 ? '' : i < cut ? 'load' : 'store'; });
			const file = group && group.header.file;
			column.code.replaceChildren(...linesOf(kernel, now).map((line) => element('div', {class: 'mono'}, element('span', {}, String(line)),
				element('span', {title: sourceLine(kernel.run, file, line)}, sourceLine(kernel.run, file, line) || file))));
		});
		if (inspected)
			showTile(inspected.kernel, inspected.tile);
	};

	/* ---- a tile's story ---- */
	const inspect = (kernel, tile) => {
		if (tile) {
			inspected = {kernel, tile};
			showTile(kernel, tile);
		}
	};

	const showTile = (kernel, tile) => {
		const done = place(all.indexOf(kernel)).done;
		let times = 0, last = null;
		for (const group of kernel.groups.slice(0, done)) {
			const found = group.accesses.filter((access) => touches(access, tile));
			if (found.length) {
				times++;
				last = {group, found};
			}
		}
		const head = element('p', {}, element('b', {}, tile.name), ` \u00b7 ${kernel.label} \u00b7 `,
			last ? `moved in ${plural(times, 'interval')} so far` : 'not touched yet');
		const lines = last ? last.found.map((access) => {
			const words = {load: 'loaded', store: 'stored', atomic: 'added to'}[access.op];
			return [element('p', {class: 'dim'}, `${words} in ${last.group.kernel}, block ${last.group.block.replace(/,0,0$/, '')}, barrier interval ` +
				`${last.group.interval} (${count(access.bytes)} bytes of ${access.tensor} in that interval)`),
				access.lines.map((line) => element('pre', {}, `${last.group.header.file}:${line}  ` +
					(sourceLine(kernel.run, last.group.header.file, line) || '')))];
		}).flat(2) : [];
		inspector.replaceChildren(head, ...lines);
	};

	/* ---- steps ---- */
	const summary = () => {
		const at = places();
		return all.map((kernel, i) => `${kernel.label}: ${at[i].finished ? 'done, ' : ''}${count(at[i].moved)} bytes` +
			(at[i].finished || !at[i].group ? '' : `, ${progressText(kernel, at[i].group)}`)).join('. ');
	};

	const clock = element('p', {class: 'clock'});
	const draw = () => {
		const stands = places();
		drawRace(stands);
		drawStage(stands);
		const at = step > 0 ? events[step - 1].at : 0;
		clock.replaceChildren('Clock: ', element('b', {}, count(at)), ' bytes through HBM for every kernel that still runs. ',
			`Step ${count(step)} of ${count(events.length)}.`);
		player.show(`step ${step} of ${events.length}: ${summary()}`);
	};

	const set = (to, keepPlaying) => {
		step = Math.max(0, Math.min(events.length, to));
		if (!keepPlaying)
			stop();
		if (step > 0 && guesses === null)
			closePrediction(new Map());
		state.set({s: step || null});
		draw();
		if (!timer)
			say(summary());
	};

	const stop = () => {
		clearTimeout(timer);
		timer = 0;
	};

	/* Slow while there is something to compare; what the longest does alone at the end is over in seconds. */
	const tick = () => {
		const running = all.filter((_, index) => !place(index).finished).length;
		const alone = all.length > 1 && running <= 1;
		const stride = alone ? Math.max(1, Math.ceil(events.length / 220)) : 1;
		set(step + stride, true);
		if (all.filter((_, index) => !place(index).finished).length < running)
			say(summary());
		if (step >= events.length) {
			stop();
			draw();
			return;
		}
		timer = setTimeout(tick, alone ? (isQuiet() ? 250 : 40) : 420);
	};

	const player = makePlayer({
		count: () => events.length, value: () => step, set: (to) => set(to), isPlaying: () => timer !== 0,
		play: () => {
			if (timer) {
				stop();
				draw();
				return;
			}
			if (step >= events.length)
				step = 0;
			timer = setTimeout(tick, 0);
			draw();
		},
	}, 'Step');

	/* ---- which kernels ---- */
	const most = () => innerWidth <= 700 ? 1 : innerWidth <= 1000 ? 2 : 3;
	const chips = element('div', {class: 'chips', role: 'group', 'aria-label': 'Kernels shown'});
	const show = (names) => {
		shown = all.filter((kernel) => names.includes(kernel.name));
		if (shown.length === 0)
			shown = all.slice(0, most());
		chips.replaceChildren(...all.map((kernel) => element('button', {type: 'button', class: 'chip', 'aria-pressed': shown.includes(kernel),
			onclick: () => choose(kernel)}, kernel.label)));
	};
	const choose = (kernel) => {
		const names = shown.map((other) => other.name), limit = most();
		const on = names.includes(kernel.name);
		const next = on ? names.filter((name) => name !== kernel.name) : limit === 1 ? [kernel.name] : [...names.slice(-(limit - 1)), kernel.name];
		if (next.length === 0)
			return;
		show(next);
		state.set({k: shown.map((other) => other.name).join(',')});
		buildStage();
		draw();
	};

	/* ---- the page ---- */
	const question = element('div', {});
	const closePrediction = (made) => {
		guesses = made;
		question.replaceChildren();
		question.hidden = true;
	};
	if (data.predict && all.length > 1)
		question.append(makePrediction(all, problem, (made) => {
			closePrediction(made);
			player.node.querySelector('.main').focus();
			if (step === 0)
				player.node.querySelector('.main').click();
		}));
	else
		guesses = new Map();

	const legend = element('p', {class: 'legend'},
		...[['swatch-load', 'loaded now'], ['swatch-store', 'stored now, hatched (in blue: loaded too)'], ['swatch-seen', 'read before'], ['swatch-written', 'written before']]
			.concat(all.some((kernel) => kernel.adds) ? [['swatch-atomic', 'atomically added now']] : [])
			.map(([swatch, text]) => element('span', {}, element('i', {class: swatch}), text)));
	const note = element('p', {class: 'note'}, 'The clock is bytes: every kernel gets the same HBM bandwidth, so one that needs fewer bytes is done sooner. ' +
		'Bytes are those the threads ask for, before any cache. A step ends at a barrier; blocks are shown one after the other. ' +
		'What stays in registers leaves no trace: their lane shows what enters and leaves them.');
	const node = element('div', {class: 'stack', id: 'traffic'}, question, race,
		element('div', {}, player.node, clock), all.length > most() ? chips : '', stage, legend, inspector,
		data.forms ? makeForms(data.forms, all) : '', note);

	const emptyInspector = () => inspector.replaceChildren(element('p', {class: 'dim'},
		'Point at a tile, or move to one with Tab and the arrow keys: it tells which barrier interval and which line of source moved it.'));
	const restore = () => {
		stop();
		const wanted = (state.get('k') || '').split(',').filter(Boolean);
		show(wanted.length ? wanted : all.map((kernel) => kernel.name).slice(0, most()));
		step = state.whole('s', events.length, 0);
		if (step > 0 && guesses === null)
			closePrediction(new Map());
		emptyInspector();
		buildStage();
		draw();
	};
	return {id: 'traffic', name: 'Memory traffic', node, restore, key: player.key, stop,
		resized: () => { buildStage(); }, themed: () => { buildStage(); }, keys: ['s', 'k']};
}
