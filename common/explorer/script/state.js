/* What the address holds after #: the view and its step, so that a link leads to a moment. */

const state = {
	values: new URLSearchParams(location.hash.slice(1)),

	get(key) {
		return this.values.get(key);
	},

	/* null takes a key away. */
	set(changes) {
		for (const [key, value] of Object.entries(changes)) {
			if (value === null || value === undefined || value === '')
				this.values.delete(key);
			else
				this.values.set(key, String(value));
		}
		const hash = '#' + this.values.toString().replaceAll('%2C', ',');
		if (hash !== location.hash)
			history.replaceState(null, '', hash);
	},

	read() {
		this.values = new URLSearchParams(location.hash.slice(1));
	},

	/* A whole number of the address from 0 to most; anything else is the default. */
	whole(key, most, fallback) {
		const text = this.get(key);
		return text !== null && /^\d{1,9}$/.test(text) ? Math.min(Number(text), most) : fallback;
	},
};
