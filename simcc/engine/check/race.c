/* What the files of racecheck share: which accesses may meet, what is found, and memory. */
#include <stdlib.h>

#include "check/race.h"

static _Atomic bool is_any_explained; /* in this launch */

/*
 * A plain read beside another thread's atomic. `if (x > *most) atomicMax(most, x)` and every compare-and-swap loop
 * begin with one, and are right: the read only decides. So a place of the source is above suspicion, for this launch,
 * where a thread reads what it then does an atomic to, with no barrier between and further down in the text; elsewhere
 * a result was read that others were still adding to. The atomic of a loop's next round explains no read behind it, but
 * for atomicCAS: what is read again at the loop's end is what it compares with.
 * Known only at the end of the launch: see findings.c.
 */
void race_explain_read(struct race *race, uint32_t warp, uint32_t read, uint32_t atomic)
{
	const struct point first = findings_point(race->findings, warp, read);
	const struct point then = findings_point(race->findings, warp, atomic);
	struct explanation *known = &race->explanations[first.site];
	if (known->launch == race->launch->number && known->atomic == atomic && known->read_path == first.path &&
	    known->atomic_path == then.path)
		return;
	*known = (struct explanation){race->launch->number, atomic, first.path, then.path};
	if (sim_site_notes[atomic] == SITE_COMPARES || !is_below(race->findings->paths, first, then))
		note_at_site(read, SITE_READS_BEFORE_ATOMIC);
	atomic_store_explicit(&is_any_explained, true, memory_order_relaxed);
}

void race_forget_explanations(void)
{
	if (!atomic_exchange(&is_any_explained, false))
		return;
	for (uint32_t number = 1; number < site_count(); number++) {
		uint8_t *note = &sim_site_notes[number];
		if (*note == SITE_READS_BEFORE_ATOMIC)
			*note = 0;
	}
}

/*
 * Does the second access follow the first in the program, with no barrier between? A warp that did so proves it: lane
 * 0 of it, because the records of a warp that has parted are checked lane by lane. Which of the racing threads this
 * device happened to run first proves nothing. `is_now`: that lane is at the second one.
 */
static bool follows(const struct race *race, uint32_t thread, uint32_t first, uint32_t second, bool is_now)
{
	const struct passes *one = race_passes(race, thread / WARP_SIZE, first);
	const struct passes *two = race_passes(race, thread / WARP_SIZE, second);
	return first != NO_SITE && one->last > race->executions_before && (is_now || one->first < two->last);
}

void race_found(struct race *race, struct finding finding)
{
	const struct party *now = &finding.now, *before = &finding.before;
	if (!finding.between_blocks) {
		const bool same_warp = is_same_warp(now->thread, before->thread);
		finding.passed = follows(race, now->thread, before->site, now->site, race->is_of_lane_0) ||
		                 (!same_warp && follows(race, before->thread, before->site, now->site, false));
		finding.returned = follows(race, now->thread, now->site, before->site, false) ||
		                   (!same_warp && follows(race, before->thread, now->site, before->site, false));
	}
	finding.read_beside_atomic = now->op == SIM_OP_ATOMIC ? before->op == SIM_OP_LOAD
	                                                      : now->op == SIM_OP_LOAD && before->op == SIM_OP_ATOMIC;
	findings_add(race->findings, &finding);
}

/* ---- memory ---- */

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

void *arena_take(struct arena *arena, size_t bytes)
{
	enum { SIZE = 1 << 16 };
	bytes = (bytes + 15) / 16 * 16;
	if (!arena->chunks || arena->chunks->size - arena->chunks->used < bytes) {
		const size_t size = bytes > SIZE ? bytes : SIZE;
		struct chunk *chunk = need(malloc(sizeof *chunk + size));
		*chunk = (struct chunk){.next = arena->chunks, .size = size};
		arena->chunks = chunk;
	}
	arena->chunks->used += bytes;
	return arena->chunks->bytes + arena->chunks->used - bytes;
}

void arena_empty(struct arena *arena)
{
	for (struct chunk *next, *chunk = arena->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	arena->chunks = NULL;
}
