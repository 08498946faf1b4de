/* What the address holds after #: the view and its step, so that a link leads to a moment. */

const state = {
	values: new URLSearchParams(location.hash.slice(1)),
	late: 0, /* the timer of an address that could not be written yet */

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
		this.write();
	},

	/* Browsers refuse more than a few changes a second: Safari and Firefox throw, Chromium ignores them. Then later. */
	write() {
		const hash = '#' + this.values.toString().replaceAll('%2C', ',');
		const differs = () => hash !== (location.hash || '#');
		clearTimeout(this.late);
		if (!differs())
			return;
		try {
			history.replaceState(null, '', hash);
		} catch (refused) {
			if (refused.name !== 'SecurityError')
				throw refused;
		}
		if (differs())
			this.late = setTimeout(() => this.write(), 1000);
	},

	read() {
		clearTimeout(this.late);
		this.values = new URLSearchParams(location.hash.slice(1));
	},

	/* A whole number of the address from 0 to most; anything else is the default. */
	whole(key, most, fallback) {
		const text = this.get(key);
		return text !== null && /^\d{1,9}$/.test(text) ? Math.min(Number(text), most) : fallback;
	},
};
