/* A tile's story: how often it has moved, and what moved it last. */

function storyOf(kernel, tile, done) {
	let times = 0, last = null;
	for (const group of kernel.groups.slice(0, done)) {
		const found = group.accesses.filter((access) => touches(access, tile));
		if (found.length) {
			times++;
			last = {group, found};
		}
	}
	return {times, last};
}

/* {node, clear(), show(kernel, tile, done)} */
function makeInspector() {
	const node = element('div', {class: 'card inspect', id: 'inspect'});
	const words = {load: 'loaded', store: 'stored', atomic: 'added to'};

	const isTouch = matchMedia('(pointer: coarse)').matches;
	const clear = () => node.replaceChildren(element('p', {class: 'dim'}, (isTouch ? 'Touch a tile' : 'Point at a tile, or move to ' +
		'one with Tab and the arrow keys') + ': it tells which barrier interval and which line of source moved it.'));

	const tell = (kernel, group, access) => {
		const source = (place) => `${place}  ${sourceLine(kernel.run, place) || ''}`;
		return [element('p', {class: 'dim'},
			`${words[access.op]} in ${group.kernel}, block ${blockOf(group)}, barrier interval ${group.interval} `,
			`(${count(access.bytes)} bytes of ${access.tensor} in that interval)`),
			access.places.map((place) => element('pre', {}, source(place)))];
	};

	const show = (kernel, tile, done) => {
		const {times, last} = storyOf(kernel, tile, done);
		node.replaceChildren(element('p', {}, element('b', {}, tile.name), ` \u00b7 ${kernel.label} \u00b7 `,
			last ? `moved in ${plural(times, 'interval')} so far` : 'not touched yet'),
		...(last ? last.found.flatMap((access) => tell(kernel, last.group, access).flat()) : []));
	};
	return {node, clear, show};
}
