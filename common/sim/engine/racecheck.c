/*
 * racecheck: two threads touch the same byte, at least one of them writes, and nothing orders them.
 *
 * Shared memory: what orders threads of different warps is a barrier of the block, so two such accesses in one
 * interval between barriers are a race, in whatever order this device happened to run them. Lanes of one warp are
 * ordered by __syncwarp and by the shuffles and votes of a mask that names both; without, it is a warning.
 * Global memory: the same between warps of a block; between blocks nothing orders, but a __threadfence() and an
 * atomic on one side, and an atomic on the other (the "last block" pattern).
 *
 * Checked when the records of a warp are worked off. For each 4 bytes a cell remembers who wrote and who read last in
 * this interval; sub-word accesses have cells for each byte.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "run.h"

/* Shared memory. Threads are numbered from 1; 0: nobody in this interval. */
struct race_cell {
	uint32_t interval; /* what follows is of this one */
	uint16_t writer, reader;
	uint16_t other_reader; /* of another warp than reader's */
	uint16_t atomic;       /* who last did an atomic: beside `writer`, who made a plain store */
	bool write_is_volatile;
	uint32_t write_site, atomic_site, read_site, other_site;
	uint32_t write_clock, atomic_clock, read_clock; /* of the warp */
	uint32_t read_lanes;                            /* of reader's warp, at read_clock */
	uint32_t value;                                 /* that was written */
	bool read_is_volatile;                          /* all reads so far */
	uint32_t split;                                 /* in this interval the four bytes have cells of their own */
};

/* The access being checked, by one lane. */
struct access {
	uint32_t thread, site;
	enum sim_op op;
	bool is_volatile;
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
	return worker->race_cells != NULL && worker->race_bytes != NULL;
}

void racecheck_synchronise(struct warp *warp, uint32_t group)
{
	bool acquired = false;

	warp->clock++;
	for (uint32_t rest = group; rest != 0; rest &= rest - 1)
		acquired |= warp->lanes[__builtin_ctz(rest)].acquired;
	for (uint32_t rest = acquired ? group : 0; rest != 0; rest &= rest - 1)
		warp->lanes[__builtin_ctz(rest)].acquired = true; /* what one has seen, it has told the others */
	if (group == warp_lanes(warp)) {
		warp->full_sync = warp->clock;
		return;
	}
	for (uint32_t first = group; first != 0; first &= first - 1)
		for (uint32_t second = group; second != 0; second &= second - 1)
			warp->pair_sync[__builtin_ctz(first)][__builtin_ctz(second)] = warp->clock;
}

/* Have these lanes of a warp synchronised since the first one's access, when the warp's clock stood at `clock`? */
static bool are_ordered(const struct warp *warp, uint32_t lane, uint32_t clock, uint32_t other)
{
	return warp->full_sync > clock || warp->pair_sync[lane][other] > clock;
}

/* What `before` did is visible to `now`, because one has released it and the other has looked. */
static bool has_handed_over(const struct worker *worker, uint32_t before, uint32_t now)
{
	return worker->lanes[before].released && worker->lanes[now].acquired;
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
static bool is_race(const struct worker *worker, const struct access *now, uint32_t thread, uint32_t clock,
                    enum finding_severity *severity)
{
	if (thread == now->thread || has_handed_over(worker, thread, now->thread))
		return false;
	if (thread / WARP_SIZE != now->thread / WARP_SIZE) {
		*severity = FINDING_ERROR;
		return true;
	}
	*severity = FINDING_WARNING;
	return !are_ordered(now->warp, thread % WARP_SIZE, clock, now->thread % WARP_SIZE);
}

static void check_against_writer(struct worker *worker, const struct race_cell *cell, const struct access *now)
{
	enum finding_severity severity;

	if (cell->writer == 0 || !is_race(worker, now, cell->writer - 1u, cell->write_clock, &severity))
		return;
	if (now->is_volatile && cell->write_is_volatile && severity == FINDING_ERROR)
		return; /* between warps; inside one, "volatile" has never been a __syncwarp() */
	/* Writing what is already there is done on purpose in real kernels ("found = true"). */
	if (now->op == SIM_OP_STORE && now->value == cell->value)
		severity = FINDING_INFO;
	found(worker, now, now->op == SIM_OP_LOAD ? FINDING_READ_AFTER_WRITE : FINDING_WRITE_AFTER_WRITE, severity,
	      SIM_SHARED, (struct party){.site = cell->write_site, .op = SIM_OP_STORE, .thread = cell->writer - 1u},
	      false);
}

static void check_against_atomic(struct worker *worker, const struct race_cell *cell, const struct access *now)
{
	enum finding_severity severity;

	if (cell->atomic == 0 || !is_race(worker, now, cell->atomic - 1u, cell->atomic_clock, &severity))
		return;
	if (now->is_volatile && severity == FINDING_ERROR)
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
	if (now->is_volatile && cell->read_is_volatile && thread / WARP_SIZE != now->thread / WARP_SIZE)
		return;
	if (is_race(worker, now, thread, cell->read_clock, &severity))
		found(worker, now, FINDING_WRITE_AFTER_READ, severity, SIM_SHARED,
		      (struct party){.site = site, .op = SIM_OP_LOAD, .thread = thread}, false);
}

static void note_read(const struct worker *worker, struct race_cell *cell, const struct access *now)
{
	if (cell->reader != 0 && (cell->reader - 1u) / WARP_SIZE != now->thread / WARP_SIZE) {
		const bool ordered = has_handed_over(worker, cell->reader - 1u, now->thread);

		cell->other_reader = ordered ? 0 : cell->reader;
		cell->other_site = cell->read_site;
		cell->read_lanes = 0;
	}
	if (cell->read_clock != now->warp->clock)
		cell->read_lanes = 0;
	cell->read_is_volatile = now->is_volatile && (cell->reader == 0 || cell->read_is_volatile);
	cell->reader = (uint16_t)(now->thread + 1);
	cell->read_site = now->site;
	cell->read_clock = now->warp->clock;
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
		cell->atomic_clock = now->warp->clock;
		return;
	}
	cell->atomic = 0;
	cell->writer = (uint16_t)(now->thread + 1);
	cell->write_is_volatile = now->is_volatile;
	cell->write_site = now->site;
	cell->write_clock = now->warp->clock;
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
 *     63    40 39      30 29      16 15     0
 *     block+1 | thread  | interval  | site          (the 2 highest bits of block are flags)
 *
 * Of a plain store and atomics beside it the store is kept. Numbers that do not fit are cut, and a cut interval is
 * taken for another one: rather a miss than a false alarm.
 */
struct global_cell {
	_Atomic uint64_t writer, reader;
	uint32_t value, write_clock;
	_Atomic uint32_t state; /* launch << 1 | being opened */
};

enum { STATE_OPENING = 1, STATE_LAUNCH_SHIFT = 1 };

enum { SITE_BITS = 16, INTERVAL_BITS = 14, THREAD_BITS = 10, INTERVAL_MOST = (1 << INTERVAL_BITS) - 1 };
#define FLAG_ATOMIC         (UINT64_C(1) << 63) /* of a writer: an atomic, or volatile */
#define FLAG_VOLATILE       (UINT64_C(1) << 62)
#define FLAG_SEVERAL_BLOCKS (UINT64_C(1) << 63)
#define FLAG_SEVERAL_WARPS  (UINT64_C(1) << 62)
#define BLOCK_MASK          ((UINT64_C(1) << 22) - 1)

static uint64_t word_of(const struct worker *worker, const struct access *now)
{
	const uint32_t interval = worker->interval - worker->first_interval;

	return ((worker->block_order + 1) & BLOCK_MASK) << 40 | (uint64_t)now->thread << 30 |
	       (uint64_t)(interval < INTERVAL_MOST ? interval : INTERVAL_MOST) << SITE_BITS |
	       (now->site & ((1u << SITE_BITS) - 1));
}

static uint64_t word_block(uint64_t word)
{
	return word >> 40 & BLOCK_MASK;
}
static uint32_t word_thread(uint64_t word)
{
	return word >> 30 & ((1 << THREAD_BITS) - 1);
}
static uint32_t word_interval(uint64_t word)
{
	return word >> SITE_BITS & INTERVAL_MOST;
}
static uint32_t word_site(uint64_t word)
{
	return word & ((1u << SITE_BITS) - 1);
}

/* Has the block published what this thread of it did: the thread itself, one of its warp, or any after a barrier? */
static bool is_published(const struct launch *launch, uint64_t word)
{
	const uint64_t block = word_block(word) - 1;
	const uint32_t interval = word_interval(word);
	uint32_t release, released_in;

	if (block >= launch->released_count)
		return true;
	release = launch->released[block];
	released_in = release >> RELEASE_INTERVAL_SHIFT & INTERVAL_MOST;
	if (!(release & RELEASE_VALID) || interval > released_in)
		return false;
	return interval < released_in || interval == INTERVAL_MOST || (release & RELEASE_SEVERAL) ||
	       is_same_warp(release & (MAX_THREADS - 1), word_thread(word));
}

static bool has_looked(const struct launch *launch, uint64_t word)
{
	const uint64_t block = word_block(word) - 1;

	return block >= launch->released_count || (launch->released[block] & RELEASE_ACQUIRED);
}

/* Are the accesses of two blocks ordered, because one was published and the other block has looked? Which of them
 * comes first is not certain: other CPU threads check theirs when they come to it. */
static bool is_released(const struct worker *worker, uint64_t mine, uint64_t theirs)
{
	return (worker->acquired && is_published(worker->launch, theirs)) ||
	       (has_looked(worker->launch, theirs) && is_published(worker->launch, mine));
}

static bool is_same_stretch(uint64_t mine, uint64_t theirs)
{
	return word_block(mine) == word_block(theirs) && word_interval(mine) == word_interval(theirs) &&
	       word_interval(mine) != INTERVAL_MOST;
}

static bool is_global_race(const struct worker *worker, uint64_t mine, uint64_t theirs, bool *between_blocks)
{
	*between_blocks = word_block(mine) != word_block(theirs);
	if (*between_blocks)
		return !is_released(worker, mine, theirs);
	return is_same_stretch(mine, theirs) && !is_same_warp(word_thread(mine), word_thread(theirs)) &&
	       !has_handed_over(worker, word_thread(theirs), word_thread(mine));
}

/* The same between lanes of a warp that have not synchronised since `clock`. */
static bool is_warp_race(const struct worker *worker, const struct access *now, uint64_t mine, uint64_t theirs,
                         uint32_t clock)
{
	return is_same_stretch(mine, theirs) && word_thread(mine) != word_thread(theirs) &&
	       is_same_warp(word_thread(mine), word_thread(theirs)) &&
	       !are_ordered(now->warp, word_thread(theirs) % WARP_SIZE, clock, word_thread(mine) % WARP_SIZE) &&
	       !has_handed_over(worker, word_thread(theirs), word_thread(mine));
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
			atomic_store_explicit(&cell->state, launch << STATE_LAUNCH_SHIFT, memory_order_release);
			return;
		}
		state = atomic_load_explicit(&cell->state, memory_order_acquire);
	}
}

/* Volatile stores count as atomics here: it is how older code publishes a value. */
static bool is_atomic_like(const struct access *now)
{
	return now->op == SIM_OP_ATOMIC || now->is_volatile;
}

/* A store must not hide behind a later atomic: "sum = 0" by one thread is a race with every other's atomicAdd(). */
static uint64_t exchange_writer(struct global_cell *cell, const struct access *now, uint64_t mine)
{
	const uint64_t writer = atomic_load_explicit(&cell->writer, memory_order_relaxed);

	if (is_atomic_like(now) && writer != 0 && !(writer & FLAG_ATOMIC))
		return writer;
	if (is_atomic_like(now))
		mine |= FLAG_ATOMIC | (now->is_volatile ? FLAG_VOLATILE : 0);
	cell->write_clock = now->warp->clock;
	return atomic_exchange_explicit(&cell->writer, mine, memory_order_seq_cst);
}

/* `record`: this is the cell the access belongs to; otherwise one of the bytes of its word, or the word of its byte.
 */
static void check_global_write(struct worker *worker, struct global_cell *cell, const struct access *now,
                               uint64_t mine, bool record)
{
	const uint32_t clock = cell->write_clock, value = cell->value;
	const uint64_t writer =
		record ? exchange_writer(cell, now, mine) : atomic_load_explicit(&cell->writer, memory_order_relaxed);
	const uint64_t reader = atomic_load_explicit(&cell->reader, memory_order_relaxed);
	const bool in_warp = is_warp_race(worker, now, mine, writer, clock);
	bool between = false;

	if (record && now->op == SIM_OP_STORE)
		cell->value = now->value;
	if (writer != 0 && !((writer & FLAG_ATOMIC) && is_atomic_like(now)) &&
	    (in_warp || is_global_race(worker, mine, writer, &between))) {
		bool same = record && now->op == SIM_OP_STORE && !(writer & FLAG_ATOMIC) && value == now->value;
		bool warning = in_warp && word_site(writer) != word_site(mine);

		if (!(in_warp && same))
			found(worker, now, FINDING_WRITE_AFTER_WRITE,
			      same      ? FINDING_INFO
			      : warning ? FINDING_WARNING
			                : FINDING_ERROR,
			      SIM_GLOBAL, party_of(writer, writer & FLAG_ATOMIC ? SIM_OP_ATOMIC : SIM_OP_STORE),
			      between);
	}
	if (reader == 0 || now->is_volatile)
		return;
	if (is_global_race(worker, mine, reader, &between) ||
	    ((reader & FLAG_SEVERAL_BLOCKS) && !is_released(worker, mine, reader) && (between = true)) ||
	    ((reader & FLAG_SEVERAL_WARPS) && is_same_stretch(mine, reader)))
		found(worker, now, FINDING_WRITE_AFTER_READ, FINDING_ERROR, SIM_GLOBAL, party_of(reader, SIM_OP_LOAD),
		      between);
}

static void note_global_read(const struct worker *worker, struct global_cell *cell, uint64_t mine)
{
	const uint64_t reader = atomic_load_explicit(&cell->reader, memory_order_relaxed);
	uint64_t flags = 0;

	/* Only readers that are not ordered before this one are worth remembering. */
	if (reader != 0 && word_block(reader) != word_block(mine)) {
		if (!is_released(worker, mine, reader))
			flags = FLAG_SEVERAL_BLOCKS;
	} else if (reader != 0) {
		flags = reader & FLAG_SEVERAL_BLOCKS;
		if (word_interval(reader) == word_interval(mine)) {
			flags |= reader & FLAG_SEVERAL_WARPS;
			if (!is_same_warp(word_thread(reader), word_thread(mine)) &&
			    !has_handed_over(worker, word_thread(reader), word_thread(mine)))
				flags |= FLAG_SEVERAL_WARPS;
		}
	}
	if ((mine | flags) != reader)
		atomic_store_explicit(&cell->reader, mine | flags, memory_order_relaxed);
}

static void check_global_read(struct worker *worker, struct global_cell *cell, const struct access *now,
                              uint64_t mine, bool record)
{
	const uint64_t writer = atomic_load_explicit(&cell->writer, memory_order_relaxed);
	bool between = false;

	if (writer != 0 && !(writer & FLAG_VOLATILE) && !(now->is_volatile && (writer & FLAG_ATOMIC))) {
		const bool in_warp = is_warp_race(worker, now, mine, writer, cell->write_clock);

		if (in_warp || is_global_race(worker, mine, writer, &between))
			found(worker, now, FINDING_READ_AFTER_WRITE, in_warp ? FINDING_WARNING : FINDING_ERROR,
			      SIM_GLOBAL, party_of(writer, writer & FLAG_ATOMIC ? SIM_OP_ATOMIC : SIM_OP_STORE),
			      between);
	}
	if (record && !now->is_volatile)
		note_global_read(worker, cell, mine);
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

void racecheck_instruction(struct worker *worker, const struct warp *warp, uint64_t key, uint32_t lanes,
                           const uint64_t *address, const uint64_t *value)
{
	const enum sim_space space = key_space(key);
	const unsigned size = key_size(key), count = (unsigned)__builtin_popcount(lanes);
	struct access now = {
		.site = key_site(key), .op = key_op(key), .is_volatile = key_is_volatile(key), .warp = warp};
	struct sim_allocation *allocation = NULL;
	unsigned i = 0;

	if (space == SIM_CONSTANT)
		return;
	if (space == SIM_GLOBAL && !now.is_volatile && now.op != SIM_OP_STORE)
		for (uint32_t rest = lanes, j = 0; rest != 0; rest &= rest - 1, j++) {
			struct lane *lane = &warp->lanes[__builtin_ctz(rest)];

			if (now.op == SIM_OP_LOAD)
				note_recent_read(lane, address[j], now.site);
			else
				explain_recent_read(lane, address[j]);
		}
	/* A broadcast is read once: what matters is the warp, and one lane speaks for it. */
	if (now.op == SIM_OP_LOAD && is_uniform(address, count)) {
		const uint32_t first = (uint32_t)__builtin_ctz(lanes);

		now.thread = (uint32_t)(warp->lanes - worker->lanes) + first;
		now.address = address[0];
		if (space == SIM_SHARED)
			check_shared_broadcast(worker, &now, size, lanes);
		else if ((allocation = sim_memory_find(address[0])) != NULL)
			check_global(worker, allocation, &now, size, 0);
		return;
	}
	for (uint32_t rest = lanes; rest != 0; rest &= rest - 1, i++) {
		now.thread = (uint32_t)(warp->lanes - worker->lanes) + (uint32_t)__builtin_ctz(rest);
		now.address = address[i];
		if (space == SIM_SHARED) {
			check_shared(worker, &now, size, value ? value[i] : 0);
			continue;
		}
		if (allocation == NULL || address[i] - allocation->first >= allocation->size)
			allocation = sim_memory_find(address[i]);
		if (allocation != NULL)
			check_global(worker, allocation, &now, size, value ? value[i] : 0);
	}
}
