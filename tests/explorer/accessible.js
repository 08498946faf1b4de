/*
 * What is hard to see, to name or to reach on a page, as a list of texts: an own check of the rules of WCAG 2.1 AA that a
 * page of this kind can break. Text has a contrast of 4.5:1 (large: 3:1); outlines of pictures, swatches and bars 3:1;
 * controls have names; what scrolls takes the keyboard; headers and headings, tabs, ids and landmarks are whole.
 */
(() => {
	const found = [], seen = (node) => node.getClientRects().length > 0 && getComputedStyle(node).visibility === 'visible';
	const parse = (text) => {
		const numbers = text.match(/-?[\d.]+(e-?\d+)?/g).map(Number), scale = text.startsWith('color(') ? 255 : 1;
		return {rgb: numbers.slice(0, 3).map((part) => part * scale), alpha: numbers[3] ?? 1};
	};
	const over = (top, under) => top.rgb.map((part, i) => top.alpha * part + (1 - top.alpha) * under[i]);
	const groundOf = (node) => {
		const layers = [];
		for (let at = node; at; at = at.parentElement)
			layers.unshift(parse(getComputedStyle(at).backgroundColor));
		return layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
	};
	const opacityOf = (node) => node ? Number(getComputedStyle(node).opacity) * opacityOf(node.parentElement) : 1;
	const light = (rgb) => rgb.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
		.reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
	const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const told = (node) => `${node.tagName.toLowerCase()}.${node.getAttribute('class') || ''} "${node.textContent.trim().slice(0, 40)}"`;

	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = new Set();
	while (walker.nextNode()) {
		const node = walker.currentNode.parentElement;
		if (walker.currentNode.textContent.trim() && seen(node) && !node.closest('script, .hidden, .skip, svg, option, :disabled'))
			texts.add(node);
	}
	if (texts.size < 10)
		found.push(`of all texts it sees ${texts.size}`);
	for (const node of texts) {
		const style = getComputedStyle(node), size = parseFloat(style.fontSize), ground = groundOf(node);
		const ink = parse(style.color), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
		const got = contrast(over({...ink, alpha: ink.alpha * opacityOf(node)}, ground), ground);
		if (got < (large ? 3 : 4.5))
			found.push(`contrast ${got.toFixed(2)}: ${told(node)}`);
	}
	for (const node of [...document.querySelectorAll('.memory canvas, .bar')].filter(seen)) {
		const style = getComputedStyle(node), edge = style.outlineStyle === 'none' ? (/(rgb|color)\([^)]*\)/.exec(style.boxShadow) || [])[0] : style.outlineColor;
		const got = edge ? contrast(parse(edge).rgb, groundOf(node.parentElement)) : 1;
		if (got < 3)
			found.push(`outline ${got.toFixed(2)}: ${told(node)}`);
	}
	for (const node of [...document.querySelectorAll('.kernel')].filter(seen)) {
		const {backgroundColor, boxShadow} = getComputedStyle(node, '::before'), edge = (/(rgb|color)\([^)]*\)/.exec(boxShadow) || [])[0];
		const got = Math.max(...[backgroundColor, edge].filter(Boolean).map((color) => contrast(parse(color).rgb, groundOf(node))));
		if (got < 3)
			found.push(`swatch ${got.toFixed(2)}: ${told(node)}`);
	}
	for (const node of [...document.querySelectorAll('.bar i')].filter(seen)) {
		const {backgroundColor, backgroundImage} = getComputedStyle(node), got = contrast(parse(backgroundColor).rgb, groundOf(node.parentElement));
		if (backgroundImage === 'none' && got < 3) /* hatched: of two colors */
			found.push(`bar ${got.toFixed(2)}: ${told(node.closest('.form-row, .row'))}`);
	}
	for (const node of [...document.querySelectorAll('button, input, textarea, select, [role="tab"], [role="group"], [role="img"], section')].filter(seen)) {
		const label = node.id && document.querySelector(`label[for="${node.id}"]`);
		if (!(node.getAttribute('aria-label') || node.textContent.trim() || label || node.closest('label') || node.title))
			found.push(`no name: ${told(node)}`);
	}
	for (const node of [...document.querySelectorAll('body *')].filter(seen))
		if (/auto|scroll/.test(getComputedStyle(node).overflowX) && node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0 &&
			node.tabIndex < 0 && !node.querySelector('button, input, [tabindex="0"]'))
			found.push(`scrolls, but not by keyboard: ${told(node)}`);
	for (const node of document.querySelectorAll('th'))
		if (!node.textContent.trim())
			found.push(`empty header in ${told(node.closest('table'))}`);
	[...document.querySelectorAll('h1, h2, h3, h4')].filter(seen).reduce((level, node) => {
		if (Number(node.tagName[1]) > level + 1)
			found.push(`a level of heading is skipped: ${told(node)}`);
		return Number(node.tagName[1]);
	}, 0);
	const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
	ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => found.push(`id twice: ${id}`));
	for (const node of document.querySelectorAll('[role="tab"]'))
		if (!node.hasAttribute('aria-selected') || !document.getElementById(node.getAttribute('aria-controls')))
			found.push(`incomplete tab: ${told(node)}`);
	if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('h1').length !== 1 || !document.documentElement.lang)
		found.push('no main, no h1 or no language');
	return found;
})()
