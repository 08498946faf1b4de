/* The page: its views as tabs, the theme, the keyboard. */

const title = data.title || `${data.runs[0].result.chapter}: this run, explained`;
document.title = title;
document.getElementById('title').textContent = title;

const views = [makeChecksView(), makeTrafficView(), makeStepView(), makeProductsView(), makeSplitsView(), makeSoftmaxView()].filter(Boolean);
const main = document.getElementById('main'), tabs = document.getElementById('tabs'), keys = element('p');
let current = null;

function subtitle() {
	const run = data.runs[0], problem = describe(run.result.problem);
	return data.subtitle || `${run.title} ${problem} \u00b7 ${run.device}`;
}
document.getElementById('subtitle').append(subtitle(), ...data.course ? [' \u00b7 ', element('a', {href: data.course},
	data.title ? 'The course' : 'The chapter')] : []);

function show(id) {
	const view = views.find((candidate) => candidate.id === id) || views[0];
	if (view !== current) {
		if (current)
			current.stop();
		current = view;
		view.node.setAttribute('role', 'tabpanel');
		view.node.setAttribute('aria-label', view.name);
		main.replaceChildren(view.node);
		for (const tab of tabs.children) {
			const chosen = tab.dataset.view === view.id;
			tab.setAttribute('aria-selected', chosen);
			tab.tabIndex = chosen ? 0 : -1;
		}
		keys.hidden = view.keys.length === 0;
	}
	view.restore();
}

tabs.append(...views.map((view) => element('button', {
	type: 'button', role: 'tab', 'data-view': view.id, 'aria-controls': 'main',
	onclick: (event) => {
		if (view !== current) {
			state.set({...Object.fromEntries(current.keys.map((key) => [key, null])), view: view.id});
			show(view.id);
		}
		if (event.detail > 0) /* by a pointer; who walks the tabs by keyboard stays there, and goes on with Tab */
			focusView();
	}}, view.name)));
tabs.hidden = views.length < 2;
tabs.addEventListener('keydown', (event) => {
	const all = [...tabs.children], at = all.indexOf(document.activeElement);
	const to = {ArrowRight: at + 1, ArrowLeft: at - 1 + all.length, Home: 0, End: all.length - 1}[event.key];
	if (to === undefined || event.ctrlKey || event.altKey || event.metaKey)
		return;
	event.preventDefault();
	all[to % all.length].focus();
	all[to % all.length].click();
});

/* ---- light and dark ---- */
const sun = 'M12 7a5 5 0 1 0 0 10a5 5 0 0 0 0-10zM12 1v3M12 20v3M1 12h3M20 12h3M4.2 4.2l2.1 2.1M17.7 17.7l2.1 2.1' +
	'M4.2 19.8l2.1-2.1M17.7 6.3l2.1-2.1';
const moon = 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
let chosenTheme = null;
function setTheme() {
	const linked = /^(dark|light)$/.test(state.get('theme')) ? state.get('theme') : null;
	const theme = linked || chosenTheme || (prefersDark.matches ? 'dark' : 'light');
	document.documentElement.dataset.theme = theme;
	document.getElementById('theme').replaceChildren(icon(theme === 'dark' ? sun : moon));
	document.getElementById('theme').setAttribute('aria-label', theme === 'dark' ? 'Light colors' : 'Dark colors');
	if (current)
		current.themed();
}
document.getElementById('theme').addEventListener('click', () => {
	chosenTheme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
	state.set({theme: null});
	setTheme();
});
prefersDark.addEventListener('change', setTheme);

/* ---- keyboard, address, size ---- */
document.addEventListener('keydown', (event) => {
	if (event.ctrlKey || event.altKey || event.metaKey || !wantsKeys(event))
		return;
	current.key(event);
});
/* The address holds the step: what leads past the tabs must not take its place. */
document.querySelector('.skip').addEventListener('click', (event) => {
	event.preventDefault();
	main.focus();
});
addEventListener('hashchange', () => {
	state.read();
	setTheme();
	show(state.get('view'));
});
let lastWidth = innerWidth;
addEventListener('resize', () => {
	if (innerWidth !== lastWidth) {
		lastWidth = innerWidth;
		current.resized();
	}
});

const key = (name) => element('kbd', {}, name);
keys.append(...matchMedia('(pointer: coarse)').matches ? ['Touch the buttons to step or play']
	: [key('space'), ' play or step \u00b7 ', key('\u2190'), ' ', key('\u2192'), ' step \u00b7 ', key('Home'), ' ', key('End'),
		' start and end'], ' \u00b7 the address holds the step: copy it to link to a moment');
document.getElementById('foot').append(keys,
	element('details', {}, element('summary', {}, 'The runs this page was made from'),
		data.runs.map((run) => element('p', {}, element('code', {}, `${run.result.chapter}: ${run.command}`)))));
setTheme();
show(state.get('view'));
document.documentElement.dataset.ready = 'yes';
