/*
 * racecheck: two threads touch the same byte, at least one of them writes, and nothing orders them.
 *
 * The memory model, CUDA's with PTX's idea of what is strong:
 *   - What orders threads of a block is a barrier; lanes of a warp, __syncwarp() and the shuffles and votes of a mask
 *     that names both. Two such accesses in one interval between barriers are a race, in whatever order this device
 *     happened to run them. Between lanes of one warp a race is a warning.
 *   - What orders threads of different blocks, and of one block between barriers, is a release met by an acquire: a
 *     fence and, after it, an atomic or a volatile store; and in the other thread an atomic or a volatile load of the
 *     same address and, after it, a fence or a barrier. What stands between fence and release, or between lock and
 *     acquiring fence, is not ordered, nor is what follows the release. See ordering.c.
 *   - __threadfence_block() and the _block atomics do this for threads of one block only.
 *   - Two atomics may meet; two _block atomics of different blocks may not.
 *   - `volatile` orders nothing, and two volatile accesses race as plain ones do. Only this may meet: a volatile load
 *     and an atomic, and either of these and a volatile store that is a release (a flag): no plain store of its
 *     thread between the fence and it. So a counter that is volatile and not atomic is a race, fences or not.
 *   - Writing the value that is there already is done on purpose in real kernels ("found = true"): information.
 *
 * Checked when the records of a warp are worked off. Only a fence makes a release; so in a program without one, which
 * is what this file checks, nothing orders blocks, and a few accesses to a word stand for all. For each 4 bytes a cell
 * remembers who wrote and who read last in this interval, and of readers and of atomics a second one, so that no
 * thread's own access hides all others'; sub-word accesses have cells for each byte. With fences: history.c.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

/* Who read shared memory. Threads are numbered from 1, here and below; 0: nobody in this interval. */
struct readers {
	uint16_t last;
	uint16_t other; /* of another warp than that one's, or else another lane, not ordered before it */
	uint32_t site, other_site;
	uint32_t clock, other_clock; /* of the warp */
	uint32_t lanes;              /* of last's warp, at that clock and place of the source */
};

/* Shared memory. */
struct race_cell {
	uint32_t interval; /* what follows is of this one */
	uint16_t writer;
	uint16_t atomic;       /* who last did an atomic: beside `writer`, who made a plain store */
	uint16_t other_atomic; /* of another warp than atomic's, or else another lane, not ordered before it */
	uint8_t write_touch;
	uint32_t write_site, atomic_site, other_atomic_site;
	uint32_t write_clock, atomic_clock, other_atomic_clock; /* of the warp */
	uint32_t value;                                         /* that was written */
	uint32_t split;            /* in this interval the four bytes have cells of their own */
	struct readers readers[2]; /* PLAIN_LOAD, VOLATILE_LOAD: an atomic may meet the second */
};

enum { SITE_BITS = 16 }; /* of a cell of global memory */

/* The access being checked, by one lane. */
struct access {
	uint32_t thread, site;
	uint32_t also; /* a second thread of the warp that reads the same; or `thread` */
	uint32_t clock;
	enum sim_op op;
	enum touch touch;
	uint32_t value;
	uintptr_t address;
	unsigned bytes;
	const struct race_warp *warp;
	struct race_launch *launch;
	uint64_t word;                     /* of global memory: as in a cell, without the thread */
	struct sim_allocation *allocation; /* of global memory; NULL: by bytes */
};

struct race *race_open_worker(const struct shared_view *shared, struct findings *findings)
{
	const size_t granules = shared->span / 4 + 1;
	struct race *race = need(calloc(1, sizeof *race));
	race->shared = shared;
	race->findings = findings;
	race->has_fences = sim_has_fences() || site_count() > 1 << SITE_BITS; /* a cell has no room for more */
	if (race->has_fences) {
		race->words = history_open_worker(shared);
		race->order = ordering_open_worker();
		race->locks = locks_open_worker();
	} else {
		race->cells = need(reserve_pages(granules * sizeof *race->cells));
		race->bytes = need(reserve_pages(4 * granules * sizeof *race->bytes));
	}
	race->passes = need(reserve_pages((size_t)MAX_WARPS * site_count() * sizeof *race->passes));
	race->explanations = need(reserve_pages(site_count() * sizeof *race->explanations));
	return race;
}

void race_open_block(struct race *race, struct race_launch *launch, uint64_t block_order, uint32_t threads)
{
	race->launch = launch;
	race->block_order = block_order;
	race->thread_count = threads;
	race->first_interval = race->interval + 1;
	race->has_fenced = false;
	race_pass_barrier(race);
	if (race->has_fences)
		locks_open_block(race);
	for (uint32_t w = 0; w * WARP_SIZE < threads; w++) {
		struct race_warp *warp = &race->warps[w];
		const uint32_t left = threads - w * WARP_SIZE;
		warp->lane_count = left < WARP_SIZE ? left : WARP_SIZE;
		/* All that was before is over. */
		warp->first_clock = warp->full_sync = ++warp->clock;
		warp->has_fenced = warp->has_looked = false;
		memset(warp->recent_reads, 0, sizeof warp->recent_reads);
		race_forget_windows(race, w);
	}
}

void race_pass_barrier(struct race *race)
{
	race->interval++;
	race->executions_before = race->executions;
	if (!race->has_fences)
		return;
	arena_empty(&race->arena); /* of words of shared memory that nobody has touched in this interval */
	locks_pass_barrier(race);
}

void race_synchronise(struct race *race, uint32_t number, uint32_t group)
{
	struct race_warp *warp = &race->warps[number];
	ordering_meet(race, number, group);
	warp->clock++;
	if (group == lanes_of(warp->lane_count)) {
		warp->full_sync = warp->clock;
		return;
	}
	uint32_t all[WARP_SIZE] = {0};
	for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
		const uint32_t *known = warp->known[__builtin_ctz(rest)];
		for (uint32_t i = 0; i < WARP_SIZE; i++)
			all[i] = known[i] > all[i] ? known[i] : all[i];
	}
	for (uint32_t rest = group; rest != 0; rest &= rest - 1)
		all[__builtin_ctz(rest)] = warp->lane_clock[__builtin_ctz(rest)] = warp->clock;
	for (uint32_t rest = group; rest != 0; rest &= rest - 1)
		memcpy(warp->known[__builtin_ctz(rest)], all, sizeof all);
}

static void found(
	struct race *race, const struct access *now, enum finding_kind kind, enum finding_severity severity,
	enum sim_space space, struct party before, bool between_blocks)
{
	race_found(
		race, (struct finding){
			      .kind = kind,
			      .severity = severity,
			      .space = space,
			      .now = {.site = now->site, .op = now->op, .thread = now->thread},
			      .before = before,
			      .between_blocks = between_blocks,
			      .address = now->address,
			      .bytes = now->bytes,
			      .count = now->bytes});
}

/* ---- shared memory ---- */

/* An earlier access by `thread` (from 0), in this interval: is it unordered with `now`, and how bad is that? */
static bool is_race(
	const struct access *now, enum touch touch, uint32_t thread, uint32_t clock, enum finding_severity *severity)
{
	if (thread == now->thread || race_may_meet(touch, now->touch, true))
		return false;
	*severity = is_same_warp(thread, now->thread) ? FINDING_WARNING : FINDING_ERROR;
	return *severity == FINDING_ERROR ||
	       !are_ordered(now->warp, thread % WARP_SIZE, clock, now->thread % WARP_SIZE);
}

static void check_against_writer(struct race *race, const struct race_cell *cell, const struct access *now)
{
	enum finding_severity severity;
	if (cell->writer == 0 || !is_race(now, cell->write_touch, cell->writer - 1u, cell->write_clock, &severity))
		return;
	if (now->op == SIM_OP_STORE && now->value == cell->value)
		severity = FINDING_INFO;
	found(race, now, now->op == SIM_OP_LOAD ? FINDING_READ_AFTER_WRITE : FINDING_WRITE_AFTER_WRITE, severity,
	      SIM_SHARED, (struct party){.site = cell->write_site, .op = SIM_OP_STORE, .thread = cell->writer - 1u},
	      false);
}

/* `touch`, `clock`: of the earlier access. */
static bool check_against_party(
	struct race *race, const struct access *now, enum touch touch, struct party before, uint32_t clock)
{
	enum finding_severity severity;
	if (!is_race(now, touch, before.thread, clock, &severity))
		return false;
	found(race, now,
	      now->op == SIM_OP_LOAD     ? FINDING_READ_AFTER_WRITE
	      : before.op == SIM_OP_LOAD ? FINDING_WRITE_AFTER_READ
	                                 : FINDING_WRITE_AFTER_WRITE,
	      severity, SIM_SHARED, before, false);
	return true;
}

static bool check_against_atomic(
	struct race *race, const struct access *now, uint16_t atomic, uint32_t site, uint32_t clock)
{
	const struct party before = {.site = site, .op = SIM_OP_ATOMIC, .thread = atomic - 1u};
	return atomic != 0 && check_against_party(race, now, ATOMIC, before, clock);
}

/*
 * One of them is enough; that of another warp is the worse. A store is held against the last one only, here and in
 * global memory: `if (atomicInc(&count, n) == n - 1) count = 0` is right because of what the atomic has told it.
 */
static void check_against_atomics(struct race *race, const struct race_cell *cell, const struct access *now)
{
	const bool both = now->op == SIM_OP_LOAD && cell->other_atomic != 0;
	const bool other_first = both && is_same_warp(cell->atomic - 1u, now->thread);
	if (other_first &&
	    check_against_atomic(race, now, cell->other_atomic, cell->other_atomic_site, cell->other_atomic_clock))
		return;
	if (!check_against_atomic(race, now, cell->atomic, cell->atomic_site, cell->atomic_clock) && both &&
	    !other_first)
		check_against_atomic(
			race, now, cell->other_atomic, cell->other_atomic_site, cell->other_atomic_clock);
}

/* The last one becomes the other one, unless that is the worse to have. */
static void note_atomic(struct race_cell *cell, const struct access *now)
{
	const uint32_t last = cell->atomic - 1u;
	const bool keeps = cell->atomic == 0 || last == now->thread ||
	                   (is_same_warp(last, now->thread) &&
	                    (are_ordered(now->warp, last % WARP_SIZE, cell->atomic_clock, now->thread % WARP_SIZE) ||
	                     (cell->other_atomic != 0 && !is_same_warp(cell->other_atomic - 1u, now->thread))));
	if (!keeps) {
		cell->other_atomic = cell->atomic;
		cell->other_atomic_site = cell->atomic_site;
		cell->other_atomic_clock = cell->atomic_clock;
	}
	cell->atomic = (uint16_t)(now->thread + 1);
	cell->atomic_site = now->site;
	cell->atomic_clock = now->clock;
}

static bool races_with_reader(
	struct race *race, enum touch touch, const struct access *now, uint32_t thread, uint32_t site, uint32_t clock)
{
	return check_against_party(
		race, now, touch, (struct party){.site = site, .op = SIM_OP_LOAD, .thread = thread}, clock);
}

/* One of them is enough; that of another warp is the worse. */
static void check_against_readers(
	struct race *race, const struct readers *readers, enum touch touch, const struct access *now)
{
	const uint32_t last = readers->last - 1u;
	if (readers->last == 0)
		return;
	if (is_same_warp(last, now->thread) && readers->other != 0 &&
	    races_with_reader(race, touch, now, readers->other - 1u, readers->other_site, readers->other_clock))
		return;
	if (races_with_reader(race, touch, now, last, readers->site, readers->clock) ||
	    now->warp->full_sync > readers->clock)
		return;
	/* Other lanes may have read in the same stretch. */
	for (uint32_t rest = readers->lanes; rest != 0; rest &= rest - 1)
		if (races_with_reader(
			    race, touch, now, last / WARP_SIZE * WARP_SIZE + (uint32_t)__builtin_ctz(rest),
			    readers->site, readers->clock))
			return;
}

/* The other one is that of another warp, if there is one: it is the worse to have. */
static void keep_as_other(struct readers *readers, const struct access *now)
{
	const uint32_t last = readers->last - 1u;
	uint32_t lane = last % WARP_SIZE;
	if (is_same_warp(last, now->thread)) {
		if (readers->other != 0 && !is_same_warp(readers->other - 1u, now->thread))
			return;
		uint32_t apart = readers->lanes & ~(1u << now->thread % WARP_SIZE);
		while (apart != 0 &&
		       are_ordered(
			       now->warp, (uint32_t)__builtin_ctz(apart), readers->clock, now->thread % WARP_SIZE))
			apart &= apart - 1;
		if (apart == 0)
			return;
		lane = (uint32_t)__builtin_ctz(apart);
	}
	readers->other = (uint16_t)(last / WARP_SIZE * WARP_SIZE + lane + 1);
	readers->other_site = readers->site;
	readers->other_clock = readers->clock;
}

static void note_read(struct readers *readers, const struct access *now)
{
	if (readers->last != 0 && (readers->clock != now->clock || readers->site != now->site ||
	                           !is_same_warp(readers->last - 1u, now->thread))) {
		keep_as_other(readers, now);
		readers->lanes = 0;
	}
	readers->last = (uint16_t)(now->thread + 1);
	readers->site = now->site;
	readers->clock = now->clock;
	readers->lanes |= 1u << now->thread % WARP_SIZE;
}

static void open_cell(struct race_cell *cell, uint32_t interval)
{
	if (cell->interval == interval)
		return;
	cell->interval = interval;
	cell->writer = cell->atomic = cell->other_atomic = 0;
	memset(cell->readers, 0, sizeof cell->readers);
	cell->split = 0;
}

static void check_cell(struct race *race, struct race_cell *cell, const struct access *now)
{
	open_cell(cell, race->interval);
	check_against_writer(race, cell, now);
	if (now->op != SIM_OP_ATOMIC)
		check_against_atomics(race, cell, now);
	if (now->op == SIM_OP_LOAD) {
		note_read(&cell->readers[now->touch], now);
		return;
	}
	for (enum touch touch = PLAIN_LOAD; touch <= VOLATILE_LOAD; touch++)
		check_against_readers(race, &cell->readers[touch], touch, now);
	if (now->op == SIM_OP_ATOMIC) {
		const struct readers *plain = &cell->readers[PLAIN_LOAD];
		if (plain->last != 0 && is_same_warp(plain->last - 1u, now->thread) &&
		    (plain->lanes >> now->thread % WARP_SIZE & 1) &&
		    (sim_site_notes[now->site] == SITE_COMPARES || cell->atomic == 0 ||
		     !is_same_warp(cell->atomic - 1u, now->thread)))
			race_explain_read(race, (uint32_t)(now->warp - race->warps), plain->site, now->site);
		note_atomic(cell, now);
		return;
	}
	cell->atomic = cell->other_atomic = 0;
	cell->writer = (uint16_t)(now->thread + 1);
	cell->write_touch = (uint8_t)now->touch;
	cell->write_site = now->site;
	cell->write_clock = now->clock;
	cell->value = now->value;
}

/* From here to the barrier each byte of the granule is looked at by itself. */
static struct race_cell *split_cell(struct race *race, struct race_cell *cell)
{
	struct race_cell *bytes = &race->bytes[4 * (cell - race->cells)];
	open_cell(cell, race->interval);
	if (!cell->split) {
		for (int i = 0; i < 4; i++) {
			bytes[i] = *cell;
			bytes[i].value = cell->value >> 8 * i & 0xff;
		}
		cell->split = 1;
	}
	return bytes;
}

static inline __attribute__((always_inline)) void check_granule(struct race *race, size_t granule, struct access *now)
{
	struct race_cell *cell = &race->cells[granule], *bytes;
	const unsigned first = now->address & 3, count = now->bytes;
	const uint32_t value = now->value;
	if (count == 4 && !(cell->split && cell->interval == race->interval)) {
		check_cell(race, cell, now);
		return;
	}
	bytes = split_cell(race, cell);
	for (unsigned i = 0; i < count; i++) {
		struct access byte = *now;
		byte.address += i;
		byte.bytes = 1;
		byte.value = value >> 8 * i & 0xff;
		check_cell(race, &bytes[first + i], &byte);
	}
}

static void check_shared(struct race *race, struct access *now, unsigned size, const struct stored *value)
{
	const uintptr_t offset = now->address - race->shared->first;
	now->bytes = size < 4 ? size : 4;
	for (unsigned done = 0; done < size; done += 4) {
		now->value = value->word[done / 4];
		check_granule(race, (offset + done) / 4, now);
		now->address += 4;
	}
}

/* One address read by several lanes: checked once, by a lane that has not written it itself, if there is one. */
static void check_shared_broadcast(struct race *race, struct access *now, unsigned size, uint32_t lanes)
{
	const uint32_t first_thread = (uint32_t)(now->warp - race->warps) * WARP_SIZE;
	const uintptr_t address = now->address;
	now->bytes = size < 4 ? size : 4;
	for (unsigned done = 0; done < size; done += 4) {
		struct race_cell *cell = &race->cells[(address + done - race->shared->first) / 4];
		const bool whole = now->bytes == 4 && !(cell->split && cell->interval == race->interval);
		struct race_cell *seen = whole ? cell : split_cell(race, cell) + (address & 3);
		const unsigned cells = whole ? 1 : now->bytes;
		uint32_t others = lanes;
		for (unsigned i = 0; i < cells; i++) {
			const uint32_t writer = seen[i].writer - 1u - first_thread;
			const uint32_t adder = seen[i].atomic - 1u - first_thread;
			if (writer < WARP_SIZE)
				others &= ~(1u << writer);
			if (adder < WARP_SIZE && others != 1u << adder)
				others &= ~(1u << adder);
		}
		now->thread = first_thread + (uint32_t)__builtin_ctz(others != 0 ? others : lanes);
		now->address = address + done;
		check_granule(race, (size_t)(cell - race->cells), now);
		for (unsigned i = 0; i < cells; i++)
			seen[i].readers[now->touch].lanes |= lanes;
	}
}

/* ---- global memory ---- */

/*
 * Who wrote and who read last, in one word each, because blocks on several CPU threads share them:
 *
 *     63   61 60     40 39      30 29      16 15     0
 *      touch | block+1 | thread  | interval  | site
 *
 * Of a plain store and atomics beside it the store is kept. Of readers two are kept, where they can be of different
 * blocks, or else of different warps, or else lanes of one warp that have not met since. Numbers that do not fit are
 * cut, and a cut interval or clock is taken for an ordered one: rather a miss than a false alarm.
 */
struct global_cell {
	_Atomic uint64_t writer, reader, other_reader;
	_Atomic uint32_t write_stamp, read_stamp; /* the clock, with a few bits that say of which word it is */
	_Atomic uint32_t value;
	_Atomic uint32_t state; /* launch << 2 | has an atomic_cell | taken: one worker is changing it */
};

/* Beside the cell of a word that had atomics in this launch: the last one, and another that is not ordered before it; of
 * another block where there is one, or else of another warp, or else another lane. And the last _block atomic. */
struct atomic_cell {
	_Atomic uint64_t last, other, of_block;
	_Atomic uint32_t stamp;
};

enum { STATE_TAKEN = 1, STATE_HAS_ATOMICS = 2, STATE_LAUNCH_SHIFT = 2 };

enum {
	INTERVAL_BITS = 14,
	THREAD_SHIFT = SITE_BITS + INTERVAL_BITS,
	THREAD_BITS = 10,
	BLOCK_SHIFT = THREAD_SHIFT + THREAD_BITS,
	TOUCH_SHIFT = 61,
	INTERVAL_MOST = (1 << INTERVAL_BITS) - 1,
	CLOCK_BITS = 20,
	CLOCK_UNKNOWN = (1 << CLOCK_BITS) - 1,
};
#define BLOCK_MASK ((UINT64_C(1) << (TOUCH_SHIFT - BLOCK_SHIFT)) - 1)

/* Each instruction may come here, and all workers share it. */
static void note(_Atomic bool *limit)
{
	if (!atomic_load_explicit(limit, memory_order_relaxed))
		atomic_store_explicit(limit, true, memory_order_relaxed);
}

/*
 * A block that has passed more barriers than an interval has numbers for begins an era: it takes another block's number,
 * behind those of the grid, which says the same of it. Where these end, too, all it does counts as ordered.
 */
static void take_era(struct race_launch *launch, uint32_t *interval, uint64_t *block)
{
	const uint32_t era = *interval / INTERVAL_MOST;
	const bool fits = era < BLOCK_MASK / launch->block_count;
	*interval = fits ? *interval % INTERVAL_MOST : INTERVAL_MOST;
	*block += fits ? era * launch->block_count : 0;
	if (!fits)
		note(&launch->incomplete);
	note(&launch->has_eras);
}

static inline uint64_t word_but_for_thread(const struct race *race, const struct access *now)
{
	struct race_launch *launch = race->launch;
	uint64_t block = race->block_order + 1;
	uint32_t interval = race->interval - race->first_interval;
	if (interval >= INTERVAL_MOST)
		take_era(launch, &interval, &block);
	if (block > BLOCK_MASK) /* another block of the same number passes for it */
		note(&launch->incomplete);
	return (uint64_t)now->touch << TOUCH_SHIFT | (block & BLOCK_MASK) << BLOCK_SHIFT |
	       (uint64_t)interval << SITE_BITS | (now->site & ((1u << SITE_BITS) - 1));
}

static enum touch word_touch(uint64_t word)
{
	return (enum touch)(word >> TOUCH_SHIFT);
}
static uint64_t word_block(uint64_t word)
{
	return word >> BLOCK_SHIFT & BLOCK_MASK;
}
static uint32_t word_thread(uint64_t word)
{
	return word >> THREAD_SHIFT & ((1 << THREAD_BITS) - 1);
}
static uint32_t word_interval(uint64_t word)
{
	return word >> SITE_BITS & INTERVAL_MOST;
}
static uint32_t word_site(uint64_t word)
{
	return word & ((1u << SITE_BITS) - 1);
}
/* By block and thread. */
static uint64_t word_who(uint64_t word)
{
	return word >> THREAD_SHIFT & ((UINT64_C(1) << (TOUCH_SHIFT - THREAD_SHIFT)) - 1);
}

static uint32_t make_stamp(uint64_t word, uint32_t clock)
{
	const uint64_t who = word_who(word);
	return (uint32_t)(who ^ who >> (32 - CLOCK_BITS)) << CLOCK_BITS |
	       (clock < CLOCK_UNKNOWN ? clock : CLOCK_UNKNOWN);
}

static uint32_t stamp_of(uint64_t word, const struct access *now)
{
	return make_stamp(word, now->clock - now->warp->first_clock);
}

/* The clock that belongs to a word; the stamp may by now be another's. */
static uint32_t clock_of(uint64_t word, uint32_t stamp)
{
	return stamp >> CLOCK_BITS == make_stamp(word, 0) >> CLOCK_BITS ? stamp & CLOCK_UNKNOWN : CLOCK_UNKNOWN;
}

static bool is_same_stretch(uint64_t mine, uint64_t theirs)
{
	return word_block(mine) == word_block(theirs) && word_interval(mine) == word_interval(theirs) &&
	       word_interval(mine) != INTERVAL_MOST;
}

static inline bool is_same_block(const struct access *now, uint64_t one, uint64_t other)
{
	const uint64_t first = word_block(one), second = word_block(other);
	return first == second || (now->launch->has_eras &&
	                           (first - 1) % now->launch->block_count == (second - 1) % now->launch->block_count);
}

static inline enum apart compare_words(const struct access *now, uint64_t mine, uint64_t theirs, uint32_t stamp)
{
	if (!is_same_block(now, mine, theirs))
		return BLOCKS;
	if (!is_same_stretch(mine, theirs) || word_thread(mine) == word_thread(theirs))
		return ORDERED;
	if (!is_same_warp(word_thread(mine), word_thread(theirs)))
		return WARPS;
	uint32_t clock = clock_of(theirs, stamp);
	return clock == CLOCK_UNKNOWN || are_ordered(
						 now->warp, word_thread(theirs) % WARP_SIZE,
						 now->warp->first_clock + clock, word_thread(mine) % WARP_SIZE)
	               ? ORDERED
	               : LANES;
}

static struct party party_of(uint64_t word, enum sim_op op)
{
	return (struct party){
		.site = word_site(word), .op = op, .thread = word_thread(word), .block_order = word_block(word) - 1};
}

static struct atomic_cell *atomic_cell_of(const struct access *now)
{
	struct atomic_cell *cells = shadow_if_open(&now->allocation->race_of_atomics);
	return cells ? &cells[(now->address - now->allocation->first) / 4] : NULL;
}

static void forget_atomics(const struct access *now)
{
	struct atomic_cell *atomics = atomic_cell_of(now);
	atomic_store_explicit(&atomics->last, 0, memory_order_relaxed);
	atomic_store_explicit(&atomics->other, 0, memory_order_relaxed);
	atomic_store_explicit(&atomics->of_block, 0, memory_order_relaxed);
}

/* What a cell says of an earlier launch is worth nothing. The first to touch it in this one empties it. */
static __attribute__((noinline)) void empty_global_cell(
	struct global_cell *cell, const struct access *now, uint32_t launch)
{
	uint32_t state = atomic_load_explicit(&cell->state, memory_order_acquire);
	while (state >> STATE_LAUNCH_SHIFT != launch || (state & STATE_TAKEN)) {
		if (state >> STATE_LAUNCH_SHIFT != launch &&
		    atomic_compare_exchange_weak(&cell->state, &state, launch << STATE_LAUNCH_SHIFT | STATE_TAKEN)) {
			atomic_store_explicit(&cell->writer, 0, memory_order_relaxed);
			atomic_store_explicit(&cell->reader, 0, memory_order_relaxed);
			atomic_store_explicit(&cell->other_reader, 0, memory_order_relaxed);
			if (state & STATE_HAS_ATOMICS)
				forget_atomics(now);
			atomic_store_explicit(&cell->state, launch << STATE_LAUNCH_SHIFT, memory_order_release);
			return;
		}
		state = atomic_load_explicit(&cell->state, memory_order_acquire);
	}
}

static uint32_t take_cell(struct global_cell *cell)
{
	uint32_t state;
	do
		state = atomic_fetch_or_explicit(&cell->state, STATE_TAKEN, memory_order_acquire);
	while (state & STATE_TAKEN);
	return state;
}

static void give_cell(struct global_cell *cell, uint32_t state)
{
	atomic_store_explicit(&cell->state, state, memory_order_release);
}

/* Who wrote a word, and when and what, which belong together. */
struct written {
	uint64_t writer;
	uint32_t stamp, value;
};

static struct written written_in(const struct global_cell *cell)
{
	return (struct written){
		.writer = atomic_load_explicit(&cell->writer, memory_order_relaxed),
		.stamp = atomic_load_explicit(&cell->write_stamp, memory_order_relaxed),
		.value = atomic_load_explicit(&cell->value, memory_order_relaxed)};
}

/* A store must not hide behind a later atomic: "sum = 0" by one thread is a race with every other's atomicAdd(). */
static struct written exchange_writer(struct global_cell *cell, const struct access *now, uint64_t mine)
{
	const uint32_t state = take_cell(cell);
	const struct written before = written_in(cell);
	const bool stays = now->op == SIM_OP_ATOMIC && before.writer != 0 && word_touch(before.writer) < ATOMIC &&
	                   (is_same_block(now, mine, before.writer) ||
	                    compare_words(now, mine, before.writer, before.stamp) != ORDERED);
	if (!stays) {
		atomic_store_explicit(&cell->writer, mine, memory_order_relaxed);
		atomic_store_explicit(&cell->write_stamp, stamp_of(mine, now), memory_order_relaxed);
		atomic_store_explicit(&cell->value, now->value, memory_order_relaxed);
	}
	give_cell(cell, state);
	return before;
}

static bool has_atomics(const struct global_cell *cell)
{
	return atomic_load_explicit(&cell->state, memory_order_acquire) & STATE_HAS_ATOMICS;
}

/* The clock of the other one of two words is known only where it is the same: lanes of one warp that do the same. */
static uint32_t stamp_of_other(uint64_t word, uint32_t stamp, uint64_t other)
{
	const bool same_warp = word_touch(word) == word_touch(other) && is_same_stretch(word, other) &&
	                       is_same_warp(word_thread(word), word_thread(other));
	return make_stamp(other, same_warp ? clock_of(word, stamp) : CLOCK_UNKNOWN);
}

/* Two atomics of different blocks may not meet if one is a _block atomic. */
static void check_atomic_against_atomics(
	struct race *race, const struct access *now, uint64_t mine, const uint64_t *atomics, int count)
{
	for (int i = 0; i < count; i++)
		if (atomics[i] != 0 && !is_same_block(now, mine, atomics[i]) &&
		    !race_may_meet(word_touch(atomics[i]), now->touch, false)) {
			found(race, now, FINDING_WRITE_AFTER_WRITE, FINDING_ERROR, SIM_GLOBAL,
			      party_of(atomics[i], SIM_OP_ATOMIC), true);
			return;
		}
}

/* The last one becomes the other one, unless that is the worse to have. */
static void note_global_atomic(struct race *race, struct global_cell *cell, const struct access *now, uint64_t mine)
{
	const size_t words = now->allocation->size / 4 + 2;
	if (!shadow_if_open(&now->allocation->race_of_atomics) &&
	    !shadow_open(&now->allocation->race_of_atomics, words * sizeof(struct atomic_cell))) {
		note(&race->launch->incomplete);
		return;
	}
	struct atomic_cell *atomics = atomic_cell_of(now);
	const uint64_t last = atomic_load_explicit(&atomics->last, memory_order_relaxed);
	const uint64_t other = atomic_load_explicit(&atomics->other, memory_order_relaxed);
	const uint32_t stamp = atomic_load_explicit(&atomics->stamp, memory_order_relaxed);
	const uint64_t of_block = now->touch == BLOCK_ATOMIC
	                                  ? atomic_exchange_explicit(&atomics->of_block, mine, memory_order_relaxed)
	                                  : atomic_load_explicit(&atomics->of_block, memory_order_relaxed);
	enum apart apart = ORDERED, kept = ORDERED;
	check_atomic_against_atomics(race, now, mine, (uint64_t[]){of_block, last, other}, 3);
	atomic_store_explicit(&atomics->last, mine, memory_order_relaxed);
	atomic_store_explicit(&atomics->stamp, stamp_of(mine, now), memory_order_relaxed);
	if (last != 0)
		apart = compare_words(now, mine, last, stamp);
	if (other != 0)
		kept = compare_words(now, mine, other, stamp_of_other(last, stamp, other));
	if (apart != ORDERED && apart >= kept)
		atomic_store_explicit(&atomics->other, last, memory_order_relaxed);
	else if (kept == ORDERED && other != 0)
		atomic_store_explicit(&atomics->other, 0, memory_order_relaxed);
	if (!has_atomics(cell))
		give_cell(cell, take_cell(cell) | STATE_HAS_ATOMICS);
}

static enum apart find_apart(const struct access *now, uint64_t mine, uint64_t theirs, uint32_t stamp)
{
	if (theirs == 0 || race_may_meet(word_touch(theirs), now->touch, is_same_block(now, mine, theirs)))
		return ORDERED;
	return compare_words(now, mine, theirs, stamp);
}

/* A plain access against the atomics: one finding is enough, the worse. */
static void check_against_global_atomics(struct race *race, const struct access *now, uint64_t mine)
{
	const struct atomic_cell *atomics = atomic_cell_of(now);
	const uint64_t last = atomic_load_explicit(&atomics->last, memory_order_relaxed);
	const uint64_t other = atomic_load_explicit(&atomics->other, memory_order_relaxed);
	const uint32_t stamp = atomic_load_explicit(&atomics->stamp, memory_order_relaxed);
	uint64_t worse = last;
	enum apart apart = find_apart(now, mine, last, stamp);
	if (now->op == SIM_OP_LOAD && apart != BLOCKS) {
		const enum apart other_apart = find_apart(now, mine, other, stamp_of_other(last, stamp, other));
		if (other_apart > apart) {
			apart = other_apart;
			worse = other;
		}
	}
	if (apart != ORDERED)
		found(race, now, now->op == SIM_OP_LOAD ? FINDING_READ_AFTER_WRITE : FINDING_WRITE_AFTER_WRITE,
		      apart == LANES ? FINDING_WARNING : FINDING_ERROR, SIM_GLOBAL, party_of(worse, SIM_OP_ATOMIC),
		      apart == BLOCKS);
}

static void found_reader(struct race *race, const struct access *now, uint64_t reader, enum apart apart)
{
	found(race, now, FINDING_WRITE_AFTER_READ, apart == LANES ? FINDING_WARNING : FINDING_ERROR, SIM_GLOBAL,
	      party_of(reader, SIM_OP_LOAD), apart == BLOCKS);
}

/* `record`: this is the cell the access belongs to; otherwise one of the bytes of its word, or the word of its byte.
 */
static void check_global_write(
	struct race *race, struct global_cell *cell, const struct access *now, uint64_t mine, bool record)
{
	const bool plain_beside_atomics = now->op != SIM_OP_ATOMIC && has_atomics(cell);
	const bool has_cell = record && now->op == SIM_OP_ATOMIC && now->allocation;
	if (has_cell)
		note_global_atomic(race, cell, now, mine);
	const struct written before = record ? exchange_writer(cell, now, mine) : written_in(cell);
	const uint64_t writer = before.writer;
	const uint64_t reader = atomic_load_explicit(&cell->reader, memory_order_relaxed);
	const uint64_t other = atomic_load_explicit(&cell->other_reader, memory_order_relaxed);
	const uint32_t read_stamp = atomic_load_explicit(&cell->read_stamp, memory_order_relaxed);
	enum apart apart;
	if (plain_beside_atomics) {
		check_against_global_atomics(race, now, mine);
		if (record)
			forget_atomics(now);
	}
	if (writer != 0 && !(word_touch(writer) >= ATOMIC && (plain_beside_atomics || has_cell)) &&
	    !race_may_meet(word_touch(writer), now->touch, is_same_block(now, mine, writer)) &&
	    (apart = compare_words(now, mine, writer, before.stamp)) != ORDERED) {
		const bool was_store = word_touch(writer) < ATOMIC;
		const bool same = record && now->op == SIM_OP_STORE && was_store && before.value == now->value;
		const bool warning = apart == LANES && word_site(writer) != word_site(mine);
		if (!(apart == LANES && same))
			found(race, now, FINDING_WRITE_AFTER_WRITE,
			      same      ? FINDING_INFO
			      : warning ? FINDING_WARNING
			                : FINDING_ERROR,
			      SIM_GLOBAL, party_of(writer, was_store ? SIM_OP_STORE : SIM_OP_ATOMIC),
			      apart == BLOCKS);
	}
	/* The other one, too, if that is the worse, or if the first may be allowed as an atomic's. */
	apart = find_apart(now, mine, reader, read_stamp);
	const bool may_be_allowed = now->op == SIM_OP_ATOMIC && word_site(reader) != word_site(other);
	const enum apart from_other =
		apart == BLOCKS && !may_be_allowed
			? ORDERED
			: find_apart(now, mine, other, stamp_of_other(reader, read_stamp, other));
	if (apart != ORDERED)
		found_reader(race, now, reader, apart);
	if (from_other > apart || (may_be_allowed && from_other != ORDERED))
		found_reader(race, now, other, from_other);
}

/* The last reader becomes the other one, unless that is the worse to have. */
static void note_global_read(struct global_cell *cell, const struct access *now, uint64_t mine)
{
	const uint64_t reader = atomic_load_explicit(&cell->reader, memory_order_relaxed);
	const uint64_t other = atomic_load_explicit(&cell->other_reader, memory_order_relaxed);
	const uint32_t last_stamp = atomic_load_explicit(&cell->read_stamp, memory_order_relaxed);
	const uint32_t stamp = stamp_of(mine, now);
	const uint64_t also = (mine & ~((uint64_t)(MAX_THREADS - 1) << THREAD_SHIFT)) | (uint64_t)now->also
	                                                                                        << THREAD_SHIFT;
	enum apart last, kept = ORDERED;
	if (mine != reader)
		atomic_store_explicit(&cell->reader, mine, memory_order_relaxed);
	if (stamp != last_stamp)
		atomic_store_explicit(&cell->read_stamp, stamp, memory_order_relaxed);
	if (also == mine ? mine == reader || (reader == 0 && other == 0) : also == other)
		return;
	/* An atomic may meet a volatile read, but not the plain one before it; and a plain read of its own thread, but not
	 * the one before that at another place. */
	const bool looks = now->touch == VOLATILE_LOAD;
	const bool again = also == mine && (mine ^ reader) >> SITE_BITS == 0;
	const bool hides = (looks || again) && reader != 0 && word_touch(reader) == PLAIN_LOAD;
	const bool stays = other != 0 && word_touch(reader) != PLAIN_LOAD && word_touch(other) == PLAIN_LOAD;
	last = reader == 0 ? ORDERED : compare_words(now, mine, reader, last_stamp);
	if ((last != BLOCKS || stays) && other != 0)
		kept = compare_words(now, mine, other, make_stamp(other, clock_of(reader, last_stamp)));
	if ((last != ORDERED || hides) && last >= kept + stays)
		atomic_store_explicit(&cell->other_reader, reader, memory_order_relaxed);
	else if (looks && other != 0 && word_touch(other) == PLAIN_LOAD)
		return;
	else if (kept <= LANES && also != mine)
		atomic_store_explicit(&cell->other_reader, also, memory_order_relaxed);
	else if (kept == ORDERED && other != 0)
		atomic_store_explicit(&cell->other_reader, 0, memory_order_relaxed);
}

static inline __attribute__((always_inline)) void check_global_read(
	struct race *race, struct global_cell *cell, const struct access *now, uint64_t mine, bool record)
{
	const uint64_t writer = atomic_load_explicit(&cell->writer, memory_order_relaxed);
	const bool beside_atomics = has_atomics(cell);
	enum apart apart;
	if (beside_atomics)
		check_against_global_atomics(race, now, mine);
	if (writer != 0 && !(beside_atomics && word_touch(writer) >= ATOMIC) &&
	    !race_may_meet(word_touch(writer), now->touch, is_same_block(now, mine, writer)) &&
	    (apart = compare_words(
		     now, mine, writer, atomic_load_explicit(&cell->write_stamp, memory_order_relaxed))) != ORDERED)
		found(race, now, FINDING_READ_AFTER_WRITE, apart == LANES ? FINDING_WARNING : FINDING_ERROR,
		      SIM_GLOBAL, party_of(writer, word_touch(writer) < ATOMIC ? SIM_OP_STORE : SIM_OP_ATOMIC),
		      apart == BLOCKS);
	if (record)
		note_global_read(cell, now, mine);
}

static struct global_cell *cells_of(struct shadow *shadow, size_t count)
{
	struct global_cell *cells = shadow_if_open(shadow);
	return cells ? cells : shadow_open(shadow, count * sizeof *cells);
}

static void check_global_cell(
	struct race *race, struct global_cell *cell, const struct access *now, uint64_t mine, bool record)
{
	if (atomic_load_explicit(&cell->state, memory_order_acquire) >> STATE_LAUNCH_SHIFT != race->launch->number ||
	    (atomic_load_explicit(&cell->state, memory_order_relaxed) & STATE_TAKEN))
		empty_global_cell(cell, now, race->launch->number);
	if (now->op == SIM_OP_LOAD)
		check_global_read(race, cell, now, mine, record);
	else
		check_global_write(race, cell, now, mine, record);
}

/* Accesses of less than 4 bytes have cells for each byte, beside those of the words; each kind looks at both. */
static void check_global_bytes(
	struct race *race, struct sim_allocation *allocation, const struct access *now, uint64_t mine, bool record)
{
	struct global_cell *cells = cells_of(&allocation->race_of_bytes, allocation->size + 8);
	for (unsigned i = 0; cells && i < now->bytes; i++) {
		struct access byte = *now;
		byte.address += i;
		byte.bytes = 1;
		byte.allocation = NULL;
		byte.value = now->value >> 8 * i & 0xff;
		check_global_cell(race, &cells[byte.address - allocation->first], &byte, mine, record);
	}
}

static void check_global(
	struct race *race, struct sim_allocation *allocation, struct access *now, unsigned size,
	const struct stored *value)
{
	struct global_cell *cells = cells_of(&allocation->race, allocation->size / 4 + 2);
	const uint64_t mine = now->word | (uint64_t)now->thread << THREAD_SHIFT;
	if (!cells) {
		race->launch->incomplete = true; /* no memory for it: the counters and the other checks go on */
		return;
	}
	now->bytes = size < 4 ? size : 4;
	now->allocation = allocation;
	for (unsigned done = 0; done < size; done += 4) {
		now->value = value->word[done / 4];
		check_global_cell(race, &cells[(now->address - allocation->first) / 4], now, mine, size >= 4);
		if (size < 4 || shadow_if_open(&allocation->race_of_bytes))
			check_global_bytes(race, allocation, now, mine, size < 4);
		now->address += 4;
	}
}

/* A lane's own reads, kept apart from the cells, which other workers write too. */
static void note_recent_read(struct race *race, uint32_t warp, int lane, uintptr_t address, uint32_t site)
{
	struct recent_read *read = &race->warps[warp].recent_reads[lane][address / 4 % RECENT_READS];
	*read = (struct recent_read){address, site, race->interval};
}

static void explain_recent_read(struct race *race, uint32_t warp, int lane, uintptr_t address, uint32_t site)
{
	const struct recent_read *read = &race->warps[warp].recent_reads[lane][address / 4 % RECENT_READS];
	if (read->address == address && read->interval == race->interval)
		race_explain_read(race, warp, read->site, site);
}

/* ---- a warp's instruction ---- */

static bool is_uniform(const uint64_t *address, unsigned count)
{
	uint64_t differs = 0;
	for (unsigned i = 1; i < count; i++)
		differs |= address[i] ^ address[0];
	return differs == 0;
}

static enum touch touch_of(uint64_t key)
{
	switch (key_op(key)) {
	case SIM_OP_LOAD: return key_is_volatile(key) ? VOLATILE_LOAD : PLAIN_LOAD;
	case SIM_OP_ATOMIC: return key_is_volatile(key) ? BLOCK_ATOMIC : ATOMIC;
	default: return key_is_volatile(key) ? VOLATILE_STORE : PLAIN_STORE;
	}
}

FASTER_CLONE static void check_instruction(
	struct race *race, uint32_t number, uint64_t key, uint32_t lanes, const uint64_t *address,
	const struct stored *value)
{
	static const struct stored nothing;
	const enum sim_space space = key_space(key);
	struct race_warp *warp = &race->warps[number];
	const unsigned size = key_size(key), count = (unsigned)__builtin_popcount(lanes);
	const uint32_t first_thread = number * WARP_SIZE;
	const uint32_t first_active = first_thread + (uint32_t)__builtin_ctz(lanes);
	struct access now = {
		.site = key_site(key),
		.op = key_op(key),
		.touch = touch_of(key),
		.warp = warp,
		.launch = race->launch};
	if (space == SIM_GLOBAL && now.op != SIM_OP_STORE)
		for (uint32_t rest = lanes, j = 0; rest != 0; rest &= rest - 1, j++) {
			if (now.op == SIM_OP_LOAD)
				note_recent_read(race, number, __builtin_ctz(rest), address[j], now.site);
			else
				explain_recent_read(race, number, __builtin_ctz(rest), address[j], now.site);
		}
	if (space == SIM_GLOBAL)
		now.word = word_but_for_thread(race, &now);
	struct sim_allocation *allocation = NULL;
	/* A broadcast is read once: what matters is the warp, and one lane speaks for it. */
	if (now.op == SIM_OP_LOAD && is_uniform(address, count)) {
		now.thread = first_active;
		now.also = first_thread + 31u - (uint32_t)__builtin_clz(lanes);
		now.clock = lane_clock(race, first_active);
		now.address = address[0];
		if (space == SIM_SHARED)
			check_shared_broadcast(race, &now, size, lanes);
		else if ((allocation = sim_memory_find(address[0])))
			check_global(race, allocation, &now, size, &nothing);
		return;
	}
	for (uint32_t rest = lanes, i = 0; rest != 0; rest &= rest - 1, i++) {
		const struct stored *stored = now.op == SIM_OP_STORE ? &value[i] : &nothing;
		now.thread = now.also = first_thread + (uint32_t)__builtin_ctz(rest);
		now.clock = lane_clock(race, now.thread);
		now.address = address[i];
		if (space == SIM_SHARED) {
			check_shared(race, &now, size, stored);
			continue;
		}
		if (!allocation || address[i] - allocation->first >= allocation->size)
			allocation = sim_memory_find(address[i]);
		if (allocation)
			check_global(race, allocation, &now, size, stored);
	}
}

/* Lanes that read as much as they write are one instruction; each of the others is several. */
static __attribute__((noinline)) void check_copies(
	struct race *race, uint32_t number, uint64_t key, uint32_t lanes, const uint64_t *address)
{
	uint64_t whole[WARP_SIZE];
	uint32_t whole_lanes = 0;
	unsigned count = 0;
	for (uint32_t rest = lanes, i = 0; rest != 0; rest &= rest - 1, i++) {
		const unsigned bytes = bytes_read(key, address[i]);
		if (bytes == key_size(key)) {
			whole[count++] = address[i];
			whole_lanes |= rest & -rest;
			continue;
		}
		const uint64_t width = (uint64_t)__builtin_ctz(bytes | 8);
		const uint64_t piece = (key & ~((uint64_t)7 << KEY_SIZE_SHIFT)) | width << KEY_SIZE_SHIFT;
		for (unsigned done = 0; done < bytes; done += 1u << width)
			race_instruction(
				race, number, piece, rest & -rest, &(uint64_t){address_read(address[i]) + done},
				NULL);
	}
	if (count > 0)
		race_instruction(race, number, key, whole_lanes, whole, NULL);
}

void race_instruction(
	struct race *race, uint32_t number, uint64_t key, uint32_t lanes, const uint64_t *address,
	const struct stored *value)
{
	race->is_of_lane_0 = lanes & 1;
	if (key_space(key) == SIM_CONSTANT)
		return;
	if (key_space(key) == SIM_LOCAL && key_op(key) == SIM_OP_LOAD) {
		check_copies(race, number, as_space(key, SIM_GLOBAL), lanes, address);
		return;
	}
	if (key_space(key) == SIM_LOCAL)
		key = as_space(key, SIM_SHARED);
	findings_note_calls(race->findings, number, key);
	if (race->has_fences)
		history_instruction(race, number, key, lanes, address, value);
	else
		check_instruction(race, number, key, lanes, address, value);
	if (race->is_of_lane_0) {
		struct passes *passes = race_passes(race, number, key_site(key));
		const uint64_t now = ++race->executions;
		if (passes->last <= race->executions_before)
			passes->first = now;
		passes->last = now;
	}
}

void race_catch_up(struct race *race, uint32_t thread, struct window *window)
{
	struct race_warp *warp = &race->warps[thread / WARP_SIZE];
	const uint32_t lane = thread % WARP_SIZE;
	if (window->pending)
		window_capture(window);
	for (uint32_t i = warp->caught_up[lane]; i < window->count; i++)
		race_instruction(
			race, thread / WARP_SIZE, window->keys[i], 1u << lane, &window->addresses[i],
			&window->values[i]);
	warp->caught_up[lane] = (uint16_t)window->count;
	warp->has_caught_up = true;
}

void race_fence(struct race *race, uint32_t thread, struct window *window, bool block_only)
{
	race_catch_up(race, thread, window);
	ordering_fence(race, thread, block_only);
	locks_fence(race, thread, block_only ? SCOPE_BLOCK : SCOPE_DEVICE);
}

void race_changed(
	struct race *race, uint32_t thread, struct window *window, uintptr_t address, uint64_t from, uint64_t to,
	bool may_take)
{
	if (!race->has_fences || from == to || (!may_take && !locks_holds(race, thread, address)))
		return;
	race_catch_up(race, thread, window);
	if (may_take || locks_holds(race, thread, address)) /* it may have left it meanwhile */
		locks_changed(race, thread, address, from, to);
}

void race_stored_strongly(struct race *race, uint32_t thread, struct window *window, uintptr_t address)
{
	if (!race->has_fences || !locks_holds(race, thread, address))
		return;
	race_catch_up(race, thread, window);
	if (locks_holds(race, thread, address)) /* still, after an earlier store */
		locks_may_leave(race, thread, address);
}

bool race_has_caught_up(const struct race *race, uint32_t warp)
{
	return race->warps[warp].has_caught_up;
}

uint32_t race_caught_up(const struct race *race, uint32_t thread)
{
	return race->warps[thread / WARP_SIZE].caught_up[thread % WARP_SIZE];
}

void race_forget_windows(struct race *race, uint32_t number)
{
	struct race_warp *warp = &race->warps[number];
	memset(warp->caught_up, 0, sizeof warp->caught_up);
	warp->has_caught_up = false;
}
