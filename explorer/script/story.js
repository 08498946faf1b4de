/*
 * The story: a few beats with a caption each, before the controls. data.beats says which: {kernel, at, lanes, title, text}; `at`
 * is {tensor, op, nth}, the nth interval that does so, {op: "compute", nth}, that asks nothing of global memory, or "end". What is not in
 * `lanes` is dimmed, as other kernels are; without lanes, nothing.
 */

function groupOfBeat(kernel, at) {
	const {groups} = kernel;
	const found = at === 'end' ? [groups.length - 1] : groups.flatMap((group, g) => {
		const does = at.op === 'compute' ? group.bytes === 0 && group.accesses.some((access) => access.op === 'load')
			: group.accesses.some((access) => access.space === 'global' && access.tensor === at.tensor && access.op === at.op);
		return does ? [g] : [];
	});
	return found[(at.nth || 1) - 1] ?? groups.length - 1;
}

/* {node, isOpen(), close()}; show(step, kernel, lanes) draws a beat, ended() is called once, when the reader is through or skips. */
function makeStory(all, events, show, ended) {
	const beats = (data.beats || []).flatMap((beat) => {
		const k = all.findIndex((kernel) => kernel.name === beat.kernel), kernel = all[k];
		const g = kernel ? groupOfBeat(kernel, beat.at) : -1;
		return kernel ? [{...beat, kernel, step: events.findIndex((event) => event.kernel === k && event.group === g) + 1}] : [];
	});
	const node = element('section', {class: 'card story', 'aria-label': 'The story', hidden: beats.length === 0});
	let now = 0, open = beats.length > 0;

	const close = () => {
		if (!open)
			return;
		open = false;
		if (node.contains(document.activeElement))
			focusView();
		node.hidden = true;
		ended();
	};
	const tell = (to, focus) => {
		now = to;
		const {title, text, kernel, step, lanes} = beats[now], isLast = now === beats.length - 1;
		const button = (name, kind, action) => element('button', {type: 'button', class: `button ${kind}`, onclick: action}, name);
		const on = button(isLast ? 'Now the race' : 'Next', 'main', () => isLast ? close() : tell(now + 1, true));
		node.replaceChildren(
			element('div', {'aria-live': 'polite'}, element('h2', {}, title), element('p', {}, text)),
			element('div', {class: 'actions'}, now > 0 ? button('Back', '', () => tell(now - 1, true)) : '', on,
				isLast ? '' : button('Skip', 'skip-story', close), element('span', {class: 'dim small'}, `${now + 1} of ${beats.length}`)));
		show(step, kernel, lanes);
		if (focus)
			on.focus();
	};
	return {node, isOpen: () => open, close, begin: () => open && tell(now)};
}
