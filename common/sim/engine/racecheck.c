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
 *     and an atomic, and a volatile load and a volatile store that is a release (a flag): no plain store of its
 * thread between the fence and it. So a counter that is volatile and not atomic is a race, fences or not.
 *   - Writing the value that is there already is done on purpose in real kernels ("found = true"): information.
 *
 * Checked when the records of a warp are worked off. For each 4 bytes a cell remembers who wrote and who read last in
 * this interval; sub-word accesses have cells for each byte.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "run.h"

/* How a byte is touched. */
enum touch { PLAIN_LOAD, VOLATILE_LOAD, PLAIN_STORE, VOLATILE_STORE, RELEASING_STORE, ATOMIC, BLOCK_ATOMIC };

/* Shared memory. Threads are numbered from 1; 0: nobody in this interval. */
struct race_cell {
	uint32_t interval; /* what follows is of this one */
	uint16_t writer, reader;
	uint16_t other_reader;           /* of another warp than reader's */
	uint16_t atomic;                 /* who last did an atomic: beside `writer`, who made a plain store */
	uint8_t write_touch, read_touch; /* read_touch: VOLATILE_LOAD if all reads so far were */
	uint32_t write_site, atomic_site, read_site, other_site;
	uint32_t write_clock, atomic_clock, read_clock; /* of the warp */
	uint32_t read_lanes;                            /* of reader's warp, at read_clock */
	uint32_t value;                                 /* that was written */
	uint32_t split;                                 /* in this interval the four bytes have cells of their own */
};

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
	const struct warp *warp;
};

static void *map_cells(size_t bytes)
{
	void *cells = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return cells == MAP_FAILED ? NULL : cells;
}

bool racecheck_open_worker(struct worker *worker)
{
	const size_t granules = worker->lanes[0].shared_span / 4 + 1;

	worker->race_cells = map_cells(granules * sizeof *worker->race_cells);
	worker->race_bytes = map_cells(4 * granules * sizeof *worker->race_bytes);
	worker->ordering = ordering_open_worker();
	return worker->race_cells != NULL && worker->race_bytes != NULL && worker->ordering != NULL;
}

void racecheck_open_block(struct worker *worker)
{
	worker->has_fenced = false;
	for (uint32_t w = 0; w < worker->warp_count; w++) {
		struct warp *warp = &worker->warps[w];

		/* All that was before is over. */
		warp->first_clock = warp->full_sync = ++warp->clock;
		warp->has_fenced = warp->checked_early = false;
	}
}

void racecheck_synchronise(struct worker *worker, struct warp *warp, uint32_t group)
{
	ordering_meet(worker, warp, group);
	warp->clock++;
	if (group == warp_lanes(warp)) {
		warp->full_sync = warp->clock;
		return;
	}
	for (uint32_t first = group; first != 0; first &= first - 1) {
		warp->lanes[__builtin_ctz(first)].clock = warp->clock;
		for (uint32_t second = group; second != 0; second &= second - 1)
			warp->pair_sync[__builtin_ctz(first)][__builtin_ctz(second)] = warp->clock;
	}
}

/* Have these lanes of a warp synchronised since the first one's access, when the warp's clock stood at `clock`? */
static bool are_ordered(const struct warp *warp, uint32_t lane, uint32_t clock, uint32_t other)
{
	return warp->full_sync > clock || warp->pair_sync[lane][other] > clock;
}

/* May two accesses of different threads meet although nothing orders them? */
static bool may_meet(enum touch one, enum touch other, bool same_block)
{
	static const bool strong[] = {
		[VOLATILE_LOAD] = true, [RELEASING_STORE] = true, [ATOMIC] = true, [BLOCK_ATOMIC] = true};

	if (one <= VOLATILE_LOAD && other <= VOLATILE_LOAD)
		return true;
	return strong[one] && strong[other] && !(one == RELEASING_STORE && other == RELEASING_STORE) &&
	       (same_block || (one != BLOCK_ATOMIC && other != BLOCK_ATOMIC));
}

/* Can others wait for what was written here? */
static bool is_signal(enum touch touch)
{
	return touch >= RELEASING_STORE;
}

static struct moment moment_of(const struct worker *worker, const struct access *now)
{
	return (struct moment){.block = worker->block_order,
	                       .thread = now->thread,
	                       .interval = worker->interval - worker->first_interval,
	                       .clock = now->clock - now->warp->first_clock};
}

static bool has_releases(const struct worker *worker)
{
	return atomic_load_explicit(&worker->launch->has_releases, memory_order_acquire);
}

/* Has a release, met by an acquire, ordered what happened at `before` and the access? */
static bool is_handed_over(struct worker *worker, const struct access *now, const struct moment *before,
                           enum touch touch)
{
	if (ordering_knows(worker, now->thread, before, is_signal(touch) ? now->address : 0))
		return true;
	if (is_signal(now->touch)) {
		const struct moment moment = moment_of(worker, now);

		return ordering_was_seen(worker, &moment, before->block, now->address);
	}
	return false;
}

/*
 * A plain read beside another thread's atomic. `if (x > *most) atomicMax(most, x)` and every compare-and-swap loop
 * begin with one, and are right: the read only decides. So a place of the source where a thread reads what it then
 * does an atomic to is above suspicion for all threads; elsewhere a result was read that others were still adding to.
 * Known only at the end of the launch: see findings.c.
 */
static void explain_read(uint32_t site)
{
	struct sim_site *place = (struct sim_site *)site_at(site);

	if (place != NULL)
		__atomic_store_n(&place->scratch, SITE_READS_BEFORE_ATOMIC, __ATOMIC_RELAXED);
}

static void found(struct worker *worker, const struct access *now, enum finding_kind kind,
                  enum finding_severity severity, enum sim_space space, struct party before, bool between_blocks)
{
	struct finding finding = {
		.kind = kind,
		.severity = severity,
		.space = space,
		.now = {.site = now->site, .op = now->op, .thread = now->thread},
		.before = before,
		.between_blocks = between_blocks,
		.address = now->address,
		.bytes = now->bytes,
		.count = now->bytes,
	};

	finding.read_beside_atomic = now->op == SIM_OP_ATOMIC ? before.op == SIM_OP_LOAD
	                                                      : now->op == SIM_OP_LOAD && before.op == SIM_OP_ATOMIC;
	findings_add(worker, &finding);
}

static bool is_same_warp(uint32_t one, uint32_t other)
{
	return one / WARP_SIZE == other / WARP_SIZE;
}

/* ---- shared memory ---- */

/* An earlier access by `thread` (from 0), in this interval: is it unordered with `now`, and how bad is that? */
static bool is_race(struct worker *worker, const struct access *now, enum touch touch, uint32_t thread,
                    uint32_t clock, enum finding_severity *severity)
{
	if (thread == now->thread || may_meet(touch, now->touch, true))
		return false;
	*severity = is_same_warp(thread, now->thread) ? FINDING_WARNING : FINDING_ERROR;
	if (*severity == FINDING_WARNING &&
	    are_ordered(now->warp, thread % WARP_SIZE, clock, now->thread % WARP_SIZE))
		return false;
	if (has_releases(worker)) {
		const struct warp *warp = &worker->warps[thread / WARP_SIZE];
		const struct moment before = {worker->block_order, thread, worker->interval - worker->first_interval,
		                              clock - warp->first_clock};

		return !is_handed_over(worker, now, &before, touch);
	}
	return true;
}

static void check_against_writer(struct worker *worker, const struct race_cell *cell, const struct access *now)
{
	enum finding_severity severity;

	if (cell->writer == 0 ||
	    !is_race(worker, now, cell->write_touch, cell->writer - 1u, cell->write_clock, &severity))
		return;
	if (now->op == SIM_OP_STORE && now->value == cell->value)
		severity = FINDING_INFO;
	found(worker, now, now->op == SIM_OP_LOAD ? FINDING_READ_AFTER_WRITE : FINDING_WRITE_AFTER_WRITE, severity,
	      SIM_SHARED, (struct party){.site = cell->write_site, .op = SIM_OP_STORE, .thread = cell->writer - 1u},
	      false);
}

static void check_against_atomic(struct worker *worker, const struct race_cell *cell, const struct access *now)
{
	enum finding_severity severity;

	if (cell->atomic == 0 || !is_race(worker, now, ATOMIC, cell->atomic - 1u, cell->atomic_clock, &severity))
		return;
	found(worker, now, now->op == SIM_OP_LOAD ? FINDING_READ_AFTER_WRITE : FINDING_WRITE_AFTER_WRITE, severity,
	      SIM_SHARED, (struct party){.site = cell->atomic_site, .op = SIM_OP_ATOMIC, .thread = cell->atomic - 1u},
	      false);
}

static void check_against_readers(struct worker *worker, const struct race_cell *cell, const struct access *now)
{
	enum finding_severity severity;
	uint32_t site = cell->read_site, thread = cell->reader - 1u;

	if (cell->reader == 0)
		return;
	if (cell->other_reader != 0 && thread / WARP_SIZE == now->thread / WARP_SIZE) {
		thread = cell->other_reader - 1u; /* the worse of the two */
		site = cell->other_site;
	} else if (thread == now->thread) {
		/* Other lanes may have read in the same stretch. */
		uint32_t others = cell->read_lanes & ~(1u << thread % WARP_SIZE);

		if (others == 0)
			return;
		thread = thread / WARP_SIZE * WARP_SIZE + (uint32_t)__builtin_ctz(others);
	}
	if (is_race(worker, now, cell->read_touch, thread, cell->read_clock, &severity))
		found(worker, now, FINDING_WRITE_AFTER_READ, severity, SIM_SHARED,
		      (struct party){.site = site, .op = SIM_OP_LOAD, .thread = thread}, false);
}

static void note_read(struct worker *worker, struct race_cell *cell, const struct access *now)
{
	if (cell->reader != 0 && (cell->reader - 1u) / WARP_SIZE != now->thread / WARP_SIZE) {
		enum finding_severity severity;
		/* Would it be a race, had this one written? If not, it need not be remembered. */
		const bool ordered =
			worker->has_fenced && !is_race(worker,
		                                       &(struct access){.thread = now->thread,
		                                                        .touch = PLAIN_STORE,
		                                                        .clock = now->clock,
		                                                        .warp = now->warp},
		                                       PLAIN_LOAD, cell->reader - 1u, cell->read_clock, &severity);

		cell->other_reader = ordered ? 0 : cell->reader;
		cell->other_site = cell->read_site;
		cell->read_lanes = 0;
	}
	if (cell->read_clock != now->clock)
		cell->read_lanes = 0;
	cell->read_touch = cell->reader == 0 || cell->read_touch == VOLATILE_LOAD ? now->touch : PLAIN_LOAD;
	cell->reader = (uint16_t)(now->thread + 1);
	cell->read_site = now->site;
	cell->read_clock = now->clock;
	cell->read_lanes |= 1u << now->thread % WARP_SIZE;
}

static void open_cell(struct race_cell *cell, uint32_t interval)
{
	if (cell->interval == interval)
		return;
	cell->interval = interval;
	cell->writer = cell->reader = cell->other_reader = cell->atomic = 0;
	cell->read_lanes = 0;
	cell->split = 0;
}

static void check_cell(struct worker *worker, struct race_cell *cell, const struct access *now)
{
	open_cell(cell, worker->interval);
	check_against_writer(worker, cell, now);
	if (now->op != SIM_OP_ATOMIC)
		check_against_atomic(worker, cell, now);
	if (now->op == SIM_OP_LOAD) {
		note_read(worker, cell, now);
		return;
	}
	check_against_readers(worker, cell, now);
	if (now->op == SIM_OP_ATOMIC) {
		if (cell->reader != 0 && is_same_warp(cell->reader - 1u, now->thread) &&
		    (cell->read_lanes >> now->thread % WARP_SIZE & 1) &&
		    !(cell->atomic != 0 && is_same_warp(cell->atomic - 1u, now->thread)))
			explain_read(cell->read_site);
		cell->atomic = (uint16_t)(now->thread + 1);
		cell->atomic_site = now->site;
		cell->atomic_clock = now->clock;
		return;
	}
	cell->atomic = 0;
	cell->writer = (uint16_t)(now->thread + 1);
	cell->write_touch = (uint8_t)now->touch;
	cell->write_site = now->site;
	cell->write_clock = now->clock;
	cell->value = now->value;
}

/* From here to the barrier each byte of the granule is looked at by itself. */
static struct race_cell *split_cell(struct worker *worker, struct race_cell *cell)
{
	struct race_cell *bytes = &worker->race_bytes[4 * (cell - worker->race_cells)];

	open_cell(cell, worker->interval);
	if (!cell->split) {
		for (int i = 0; i < 4; i++) {
			bytes[i] = *cell;
			bytes[i].value = cell->value >> 8 * i & 0xff;
		}
		cell->split = 1;
	}
	return bytes;
}

static void check_granule(struct worker *worker, size_t granule, struct access *now)
{
	struct race_cell *cell = &worker->race_cells[granule], *bytes;
	const unsigned first = now->address & 3, count = now->bytes;
	const uint32_t value = now->value;

	if (count == 4 && !(cell->split && cell->interval == worker->interval)) {
		check_cell(worker, cell, now);
		return;
	}
	bytes = split_cell(worker, cell);
	for (unsigned i = 0; i < count; i++) {
		struct access byte = *now;

		byte.address += i;
		byte.bytes = 1;
		byte.value = value >> 8 * i & 0xff;
		check_cell(worker, &bytes[first + i], &byte);
	}
}

static void check_shared(struct worker *worker, struct access *now, unsigned size, uint64_t value)
{
	const uintptr_t offset = now->address - worker->lanes[0].shared_first;

	now->bytes = size < 4 ? size : 4;
	now->value = (uint32_t)value;
	check_granule(worker, offset / 4, now);
	for (unsigned done = 4; done < size; done += 4) {
		now->address += 4;
		now->value =
			done == 4 ? (uint32_t)(value >> 32) : (uint32_t)(value >> 32) ^ done; /* 8 bytes are kept */
		check_granule(worker, (offset + done) / 4, now);
	}
}

/* One address read by several lanes: checked once, by a lane that has not written it itself, if there is one. */
static void check_shared_broadcast(struct worker *worker, struct access *now, unsigned size, uint32_t lanes)
{
	const uint32_t first_thread = (uint32_t)(now->warp->lanes - worker->lanes);
	const uintptr_t address = now->address;

	for (unsigned done = 0; done < size; done += 4) {
		struct race_cell *cell = &worker->race_cells[(address + done - worker->lanes[0].shared_first) / 4];
		uint32_t writer =
			(cell->writer ? cell->writer : cell->atomic) - 1u - first_thread; /* lane, if of this warp */
		uint32_t others = writer < WARP_SIZE ? lanes & ~(1u << writer) : lanes;

		now->thread = first_thread + (uint32_t)__builtin_ctz(others != 0 ? others : lanes);
		now->address = address + done;
		now->bytes = size < 4 ? size : 4;
		check_granule(worker, (size_t)(cell - worker->race_cells), now);
		cell->read_lanes |= lanes;
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
	uint32_t value;
	_Atomic uint32_t state; /* launch << 1 | being opened */
};

enum { STATE_OPENING = 1, STATE_LAUNCH_SHIFT = 1 };

enum {
	SITE_BITS = 16,
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

static uint64_t word_of(const struct worker *worker, const struct access *now)
{
	const uint32_t interval = worker->interval - worker->first_interval;

	return (uint64_t)now->touch << TOUCH_SHIFT | ((worker->block_order + 1) & BLOCK_MASK) << BLOCK_SHIFT |
	       (uint64_t)now->thread << THREAD_SHIFT |
	       (uint64_t)(interval < INTERVAL_MOST ? interval : INTERVAL_MOST) << SITE_BITS |
	       (now->site & ((1u << SITE_BITS) - 1));
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

/* What has nothing between two accesses. */
enum apart { ORDERED, LANES, WARPS, BLOCKS };

static inline enum apart compare_words(const struct access *now, uint64_t mine, uint64_t theirs, uint32_t stamp)
{
	uint32_t clock;

	if (word_block(mine) != word_block(theirs))
		return BLOCKS;
	if (!is_same_stretch(mine, theirs) || word_thread(mine) == word_thread(theirs))
		return ORDERED;
	if (!is_same_warp(word_thread(mine), word_thread(theirs)))
		return WARPS;
	clock = clock_of(theirs, stamp);
	return clock == CLOCK_UNKNOWN || are_ordered(now->warp, word_thread(theirs) % WARP_SIZE,
	                                             now->warp->first_clock + clock, word_thread(mine) % WARP_SIZE)
	               ? ORDERED
	               : LANES;
}

static __attribute__((noinline)) bool is_word_handed_over(struct worker *worker, const struct access *now,
                                                          uint64_t theirs, uint32_t stamp)
{
	const uint32_t clock = clock_of(theirs, stamp);
	const struct moment before = {
		.block = word_block(theirs) - 1,
		.thread = word_thread(theirs),
		.interval = word_interval(theirs) == INTERVAL_MOST ? 0 : word_interval(theirs),
		.clock = clock == CLOCK_UNKNOWN ? 0 : clock,
	};

	return is_handed_over(worker, now, &before, word_touch(theirs));
}

/* How far apart are the access and an earlier one, if nothing orders them? */
static inline enum apart find_apart(struct worker *worker, const struct access *now, uint64_t mine, uint64_t theirs,
                                    uint32_t stamp)
{
	const enum apart apart = compare_words(now, mine, theirs, stamp);

	return apart != ORDERED && has_releases(worker) && is_word_handed_over(worker, now, theirs, stamp) ? ORDERED
	                                                                                                   : apart;
}

static struct party party_of(uint64_t word, enum sim_op op)
{
	return (struct party){
		.site = word_site(word), .op = op, .thread = word_thread(word), .block_order = word_block(word) - 1};
}

/* What a cell says of an earlier launch is worth nothing. The first to touch it in this one empties it. */
static void open_global_cell(struct global_cell *cell, uint32_t launch)
{
	uint32_t state = atomic_load_explicit(&cell->state, memory_order_acquire);

	while (state >> STATE_LAUNCH_SHIFT != launch || (state & STATE_OPENING)) {
		if (state >> STATE_LAUNCH_SHIFT != launch &&
		    atomic_compare_exchange_weak(&cell->state, &state,
		                                 launch << STATE_LAUNCH_SHIFT | STATE_OPENING)) {
			atomic_store_explicit(&cell->writer, 0, memory_order_relaxed);
			atomic_store_explicit(&cell->reader, 0, memory_order_relaxed);
			atomic_store_explicit(&cell->other_reader, 0, memory_order_relaxed);
			atomic_store_explicit(&cell->state, launch << STATE_LAUNCH_SHIFT, memory_order_release);
			return;
		}
		state = atomic_load_explicit(&cell->state, memory_order_acquire);
	}
}

/* A store must not hide behind a later atomic: "sum = 0" by one thread is a race with every other's atomicAdd(). */
static uint64_t exchange_writer(struct worker *worker, struct global_cell *cell, const struct access *now,
                                uint64_t mine)
{
	const uint64_t writer = atomic_load_explicit(&cell->writer, memory_order_relaxed);
	uint64_t before;

	if (now->op == SIM_OP_ATOMIC && writer != 0 && word_touch(writer) < ATOMIC &&
	    (word_block(writer) == word_block(mine) ||
	     find_apart(worker, now, mine, writer, atomic_load_explicit(&cell->write_stamp, memory_order_relaxed)) !=
	             ORDERED))
		return writer;
	before = atomic_exchange_explicit(&cell->writer, mine, memory_order_seq_cst);
	atomic_store_explicit(&cell->write_stamp, stamp_of(mine, now), memory_order_relaxed);
	return before;
}

static bool check_against_reader(struct worker *worker, const struct access *now, uint64_t mine, uint64_t reader,
                                 uint32_t stamp)
{
	enum apart apart;

	if (reader == 0 || may_meet(word_touch(reader), now->touch, word_block(reader) == word_block(mine)) ||
	    (apart = find_apart(worker, now, mine, reader, stamp)) == ORDERED)
		return false;
	found(worker, now, FINDING_WRITE_AFTER_READ, apart == LANES ? FINDING_WARNING : FINDING_ERROR, SIM_GLOBAL,
	      party_of(reader, SIM_OP_LOAD), apart == BLOCKS);
	return true;
}

/* `record`: this is the cell the access belongs to; otherwise one of the bytes of its word, or the word of its byte.
 */
static void check_global_write(struct worker *worker, struct global_cell *cell, const struct access *now,
                               uint64_t mine, bool record)
{
	const uint32_t stamp = atomic_load_explicit(&cell->write_stamp, memory_order_relaxed), value = cell->value;
	const uint64_t writer = record ? exchange_writer(worker, cell, now, mine)
	                               : atomic_load_explicit(&cell->writer, memory_order_relaxed);
	const uint64_t reader = atomic_load_explicit(&cell->reader, memory_order_relaxed);
	const uint64_t other = atomic_load_explicit(&cell->other_reader, memory_order_relaxed);
	const uint32_t read_stamp = atomic_load_explicit(&cell->read_stamp, memory_order_relaxed);
	enum apart apart;

	if (record && now->op == SIM_OP_STORE)
		cell->value = now->value;
	if (writer != 0 && !may_meet(word_touch(writer), now->touch, word_block(writer) == word_block(mine)) &&
	    (apart = find_apart(worker, now, mine, writer, stamp)) != ORDERED) {
		const bool was_store = word_touch(writer) < ATOMIC;
		const bool same = record && now->op == SIM_OP_STORE && was_store && value == now->value;
		const bool warning = apart == LANES && word_site(writer) != word_site(mine);

		if (!(apart == LANES && same))
			found(worker, now, FINDING_WRITE_AFTER_WRITE,
			      same      ? FINDING_INFO
			      : warning ? FINDING_WARNING
			                : FINDING_ERROR,
			      SIM_GLOBAL, party_of(writer, was_store ? SIM_OP_STORE : SIM_OP_ATOMIC),
			      apart == BLOCKS);
	}
	if (!check_against_reader(worker, now, mine, reader, read_stamp)) {
		/* The other one's clock is known only where it is the same: lanes of one warp. */
		const bool same_warp =
			is_same_stretch(reader, other) && is_same_warp(word_thread(reader), word_thread(other));
		const uint32_t clock = same_warp ? clock_of(reader, read_stamp) : CLOCK_UNKNOWN;

		check_against_reader(worker, now, mine, other, make_stamp(other, clock));
	}
}

/* The last reader becomes the other one, unless that is the worse to have. */
static void note_global_read(struct worker *worker, struct global_cell *cell, const struct access *now, uint64_t mine)
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
	last = reader == 0 ? ORDERED : find_apart(worker, now, mine, reader, last_stamp);
	if (last != BLOCKS && other != 0)
		kept = compare_words(now, mine, other, make_stamp(other, clock_of(reader, last_stamp)));
	if (last != ORDERED && last >= kept)
		atomic_store_explicit(&cell->other_reader, reader, memory_order_relaxed);
	else if (kept <= LANES && also != mine)
		atomic_store_explicit(&cell->other_reader, also, memory_order_relaxed);
	else if (kept == ORDERED && other != 0)
		atomic_store_explicit(&cell->other_reader, 0, memory_order_relaxed);
}

static void check_global_read(struct worker *worker, struct global_cell *cell, const struct access *now,
                              uint64_t mine, bool record)
{
	const uint64_t writer = atomic_load_explicit(&cell->writer, memory_order_relaxed);
	enum apart apart;

	if (writer != 0 && !may_meet(word_touch(writer), now->touch, word_block(writer) == word_block(mine)) &&
	    (apart = find_apart(worker, now, mine, writer,
	                        atomic_load_explicit(&cell->write_stamp, memory_order_relaxed))) != ORDERED)
		found(worker, now, FINDING_READ_AFTER_WRITE, apart == LANES ? FINDING_WARNING : FINDING_ERROR,
		      SIM_GLOBAL, party_of(writer, word_touch(writer) < ATOMIC ? SIM_OP_STORE : SIM_OP_ATOMIC),
		      apart == BLOCKS);
	if (record)
		note_global_read(worker, cell, now, mine);
}

static struct global_cell *cells_of(struct global_cell **place, size_t count)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	if (__atomic_load_n(place, __ATOMIC_ACQUIRE) == NULL) {
		pthread_mutex_lock(&lock);
		if (*place == NULL)
			__atomic_store_n(place, map_cells(count * sizeof **place), __ATOMIC_RELEASE);
		pthread_mutex_unlock(&lock);
	}
	return *place;
}

static size_t word_cells(const struct sim_allocation *allocation)
{
	return allocation->size / 4 + 2;
}
static size_t byte_cells(const struct sim_allocation *allocation)
{
	return allocation->size + 8;
}

void racecheck_forget(struct sim_allocation *allocation)
{
	if (allocation->cells != NULL)
		munmap(allocation->cells, word_cells(allocation) * sizeof *allocation->cells);
	if (allocation->byte_cells != NULL)
		munmap(allocation->byte_cells, byte_cells(allocation) * sizeof *allocation->byte_cells);
	allocation->cells = allocation->byte_cells = NULL;
}

static void check_global_cell(struct worker *worker, struct global_cell *cell, const struct access *now,
                              uint64_t mine, bool record)
{
	open_global_cell(cell, worker->launch->number);
	if (now->op == SIM_OP_LOAD)
		check_global_read(worker, cell, now, mine, record);
	else
		check_global_write(worker, cell, now, mine, record);
}

/* Accesses of less than 4 bytes have cells for each byte, beside those of the words; each kind looks at both. */
static void check_global_bytes(struct worker *worker, struct sim_allocation *allocation, const struct access *now,
                               uint64_t mine, bool record)
{
	struct global_cell *cells = cells_of(&allocation->byte_cells, byte_cells(allocation));

	for (unsigned i = 0; cells != NULL && i < now->bytes; i++) {
		struct access byte = *now;

		byte.address += i;
		byte.bytes = 1;
		byte.value = now->value >> 8 * i & 0xff;
		check_global_cell(worker, &cells[byte.address - allocation->first], &byte, mine, record);
	}
}

static void check_global(struct worker *worker, struct sim_allocation *allocation, struct access *now, unsigned size,
                         uint64_t value)
{
	struct global_cell *cells = cells_of(&allocation->cells, word_cells(allocation));
	const uint64_t mine = word_of(worker, now);

	if (cells == NULL)
		return; /* no memory for it: the counters and the other checks go on */
	now->bytes = size < 4 ? size : 4;
	for (unsigned done = 0; done < size; done += 4) {
		now->value = done == 0   ? (uint32_t)value
		             : done == 4 ? (uint32_t)(value >> 32)
		                         : (uint32_t)(value >> 32) ^ done;
		check_global_cell(worker, &cells[(now->address - allocation->first) / 4], now, mine, size >= 4);
		if (size < 4 || __atomic_load_n(&allocation->byte_cells, __ATOMIC_RELAXED) != NULL)
			check_global_bytes(worker, allocation, now, mine, size < 4);
		now->address += 4;
	}
}

/* A lane's own reads, kept apart from the cells, which other workers write too. */
static void note_recent_read(struct lane *lane, uintptr_t address, uint32_t site)
{
	lane->recent_reads[address / 4 % RECENT_READS].address = address;
	lane->recent_reads[address / 4 % RECENT_READS].site = site;
}

static void explain_recent_read(const struct lane *lane, uintptr_t address)
{
	if (lane->recent_reads[address / 4 % RECENT_READS].address == address)
		explain_read(lane->recent_reads[address / 4 % RECENT_READS].site);
}

/* ---- a warp's instruction ---- */

static bool is_uniform(const uint64_t *address, unsigned count)
{
	uint64_t differs = 0;

	for (unsigned i = 1; i < count; i++)
		differs |= address[i] ^ address[0];
	return differs == 0;
}

/* A store's touch depends on its lane. */
static enum touch touch_of(struct lane *lane, uint64_t key)
{
	switch (key_op(key)) {
	case SIM_OP_LOAD: return key_is_volatile(key) ? VOLATILE_LOAD : PLAIN_LOAD;
	case SIM_OP_ATOMIC: return key_is_volatile(key) ? BLOCK_ATOMIC : ATOMIC;
	default: break;
	}
	if (key_is_volatile(key))
		return ordering_is_publishing(lane) ? RELEASING_STORE : VOLATILE_STORE;
	if (lane->worker->has_fenced)
		ordering_note_plain_store(lane);
	return PLAIN_STORE;
}

void racecheck_instruction(struct worker *worker, const struct warp *warp, uint64_t key, uint32_t lanes,
                           const uint64_t *address, const uint64_t *value)
{
	const enum sim_space space = key_space(key);
	const unsigned size = key_size(key), count = (unsigned)__builtin_popcount(lanes);
	const uint32_t first_thread = (uint32_t)(warp->lanes - worker->lanes);
	struct access now = {.site = key_site(key),
	                     .op = key_op(key),
	                     .touch = touch_of(&warp->lanes[__builtin_ctz(lanes)], key),
	                     .warp = warp};
	struct sim_allocation *allocation = NULL;
	unsigned i = 0;

	if (space == SIM_CONSTANT)
		return;
	if (space == SIM_GLOBAL && now.op != SIM_OP_STORE)
		for (uint32_t rest = lanes, j = 0; rest != 0; rest &= rest - 1, j++) {
			struct lane *lane = &warp->lanes[__builtin_ctz(rest)];

			if (now.op == SIM_OP_LOAD)
				note_recent_read(lane, address[j], now.site);
			else
				explain_recent_read(lane, address[j]);
		}
	/* A broadcast is read once: what matters is the warp, and one lane speaks for it. After fences lanes differ.
	 */
	if (now.op == SIM_OP_LOAD && !worker->has_fenced && is_uniform(address, count)) {
		struct lane *lane = &warp->lanes[__builtin_ctz(lanes)];

		now.thread = first_thread + (uint32_t)__builtin_ctz(lanes);
		now.also = first_thread + 31u - (uint32_t)__builtin_clz(lanes);
		now.clock = lane_clock(lane);
		now.address = address[0];
		if (space == SIM_SHARED)
			check_shared_broadcast(worker, &now, size, lanes);
		else if ((allocation = sim_memory_find(address[0])) != NULL)
			check_global(worker, allocation, &now, size, 0);
		return;
	}
	for (uint32_t rest = lanes; rest != 0; rest &= rest - 1, i++) {
		struct lane *lane = &warp->lanes[__builtin_ctz(rest)];
		const uint64_t stored = now.op == SIM_OP_STORE ? value[i] : 0;

		now.thread = now.also = first_thread + (uint32_t)__builtin_ctz(rest);
		if (now.op == SIM_OP_STORE && worker->has_fenced)
			now.touch = touch_of(lane, key);
		now.clock = lane_clock(lane);
		now.address = address[i];
		if (space == SIM_SHARED) {
			check_shared(worker, &now, size, stored);
			continue;
		}
		if (allocation == NULL || address[i] - allocation->first >= allocation->size)
			allocation = sim_memory_find(address[i]);
		if (allocation != NULL)
			check_global(worker, allocation, &now, size, stored);
	}
}

void racecheck_catch_up(struct lane *lane)
{
	if (lane->pending)
		capture_value(lane);
	for (uint32_t i = lane->checked; i < lane->count; i++)
		racecheck_instruction(lane->worker, lane->warp, lane->keys[i], 1u << lane->index, &lane->addresses[i],
		                      &lane->values[i]);
	lane->checked = (uint16_t)lane->count;
	lane->warp->checked_early = true;
}
