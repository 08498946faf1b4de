/*
 * Running one block. Its threads are fibers on one pthread, so nothing in a block runs at the same time; which
 * thread goes next is decided here, by SIM_ORDER, each time one must wait. A warp's lanes run until none of them
 * can go on, then their records are worked off, then the next warp has its turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace.h"

/* Windows a warp may fill before others are given a turn. Not ever more: threads may hand work to and fro. */
enum { FIRST_TURNS = 64, MOST_TURNS = 1024 };

/* ---- the worker's memory ---- */

static bool open_shared_map(struct worker *worker)
{
	uintptr_t first = (uintptr_t)sim_dynamic_shared, end = first + DYNAMIC_SHARED_MAX;
	size_t entries;

	for (size_t i = 0; i < sim_shared_count_all(); i++) {
		uintptr_t start = sim_shared_address(sim_shared_at(i));

		first = start < first ? start : first;
		end = start + sim_shared_at(i)->size + SIM_REDZONE > end
		              ? start + sim_shared_at(i)->size + SIM_REDZONE
		              : end;
	}
	first &= ~(uintptr_t)15;
	entries = (end - first) / 4 + 8;
	worker->shared_map = calloc(entries, sizeof *worker->shared_map);
	for (int t = 0; t < MAX_THREADS; t++) {
		worker->lanes[t].shared_first = first;
		worker->lanes[t].shared_span = (end - first) & ~(uintptr_t)15;
		worker->lanes[t].shared_map = worker->shared_map;
	}
	return worker->shared_map != NULL;
}

/* Is the array one that only kernels other than this one use? Then an address in it is a stray one. (An array that no
 * kernel's own object uses may be reached through another object.) */
static bool is_anothers(const struct sim_shared *array, const struct sim_function *function)
{
	bool used = false;

	for (uint32_t i = 0; i < function->shared_count; i++)
		if (function->shared[i] == array)
			return false;
	for (size_t f = 0; f < sim_function_count() && !used; f++) {
		const struct sim_function *other = sim_function_number(f);

		for (uint32_t i = 0; other->is_kernel && i < other->shared_count; i++)
			used |= other->shared[i] == array;
	}
	return used;
}

/* Which bytes of the thread-local storage are shared arrays of this kernel. */
void worker_set_kernel(struct worker *worker, const struct sim_function *function)
{
	if (worker->mapped && worker->mapped_function == function)
		return;
	worker->mapped = true;
	worker->mapped_function = function;
	for (size_t i = 0; i < sim_shared_count_all(); i++) {
		const struct sim_shared *array = sim_shared_at(i);
		const bool hidden = function != NULL && is_anothers(array, function);
		uint16_t *granule =
			&worker->shared_map[(sim_shared_address(array) - worker->lanes[0].shared_first) / 4];

		for (size_t g = 0; g < array->size / 4; g++)
			granule[g] = hidden ? 0 : (uint16_t)(2 + i % 60000); /* 1 is dynamic shared memory */
		if (array->size % 4 != 0)
			granule[array->size / 4] = hidden ? 0 : SHARED_MAP_RAGGED;
	}
}

void worker_set_dynamic_shared(struct worker *worker, size_t bytes)
{
	uint16_t *granule = &worker->shared_map[((uintptr_t)sim_dynamic_shared - worker->lanes[0].shared_first) / 4];

	if (bytes == worker->shared_map_dynamic)
		return;
	memset(granule, 0, (worker->shared_map_dynamic / 4 + 1) * sizeof *granule);
	for (size_t g = 0; g < bytes / 4; g++)
		granule[g] = 1;
	if (bytes % 4 != 0)
		granule[bytes / 4] = SHARED_MAP_RAGGED;
	worker->shared_map_dynamic = bytes;
}

static bool open_written(struct worker *worker)
{
	worker->shared_written = calloc(worker->lanes[0].shared_span + 16, 1);
	for (int t = 0; t < MAX_THREADS; t++)
		worker->lanes[t].shared_written = worker->shared_written;
	return worker->shared_written != NULL;
}

bool worker_open(struct worker *worker)
{
	/* Rows of records are padded so that the 32 of a warp do not share one set of a cache. */
	enum { ROW = WINDOW + 8, ROWS = 3 }; /* keys, addresses, values */
	const bool *check = sim_options()->check;
	struct frame *frames;

	worker->lanes = calloc(MAX_THREADS, sizeof *worker->lanes);
	worker->records = mmap(NULL, (size_t)MAX_THREADS * ROWS * ROW * sizeof(uint64_t), PROT_READ | PROT_WRITE,
	                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	worker->stacks = mmap(NULL, (size_t)MAX_THREADS * STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
	                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	worker->path_capacity = 1024;
	worker->path_index_size = 4096;
	worker->paths = malloc(worker->path_capacity * sizeof *worker->paths);
	worker->path_index = calloc(worker->path_index_size, sizeof *worker->path_index);
	worker->path_count = 1; /* 0 is the kernel itself */
	frames = calloc(MAX_THREADS * FIRST_FRAMES, sizeof *frames);
	if (frames == NULL || worker->lanes == NULL || worker->records == MAP_FAILED ||
	    worker->stacks == MAP_FAILED || worker->paths == NULL || worker->path_index == NULL)
		return false;
	for (int t = 0; t < MAX_THREADS; t++) {
		struct lane *lane = &worker->lanes[t];

		lane->worker = worker;
		lane->warp = &worker->warps[t / WARP_SIZE];
		lane->index = (uint32_t)t % WARP_SIZE;
		lane->keys = worker->records + (size_t)t * ROWS * ROW;
		lane->addresses = lane->keys + ROW;
		lane->values = check[SIM_RACECHECK] ? lane->addresses + ROW : NULL;
		lane->stack_first = (uintptr_t)worker->stacks + (size_t)t * STACK_BYTES;
		lane->stack_limit = lane->stack_first + STACK_RESERVE;
		lane->frames = frames + (size_t)t * FIRST_FRAMES;
		lane->frames_end = lane->frames + FIRST_FRAMES;
	}
	if (!open_shared_map(worker) || (check[SIM_INITCHECK] && !open_written(worker)))
		return false;
	return !check[SIM_RACECHECK] || racecheck_open_worker(worker);
}

/* Pages below and above each stack that cannot be touched: a large local array may step over the limit between two
 * calls, and an overrun one run up to its end. Made at a stack's first use; if the system refuses more of them, the
 * checks at function entry and exit remain. */
static void guard_stack(struct lane *lane)
{
	(void)mprotect((void *)lane->stack_first, GUARD_BYTES, PROT_NONE);
	(void)mprotect((void *)(lane->stack_first + STACK_BYTES), GUARD_BYTES, PROT_NONE);
}

/* Calls nest deeper than there is room for. The first room is part of one for all lanes and stays. */
void add_frames(struct lane *lane)
{
	const size_t count = (size_t)(lane->frames_end - lane->frames);
	struct frame *frames = malloc(2 * count * sizeof *frames);

	if (frames == NULL)
		abort();
	memcpy(frames, lane->frames, count * sizeof *frames);
	if (count > FIRST_FRAMES)
		free(lane->frames);
	lane->frames = frames;
	lane->frame = frames + count;
	lane->frames_end = frames + 2 * count;
}

uint32_t path_add(struct worker *worker, uint32_t parent, uintptr_t caller, uint32_t at)
{
	uint32_t id = worker->path_count++;

	if (worker->path_count == worker->path_capacity) {
		worker->path_capacity *= 2;
		worker->paths = realloc(worker->paths, worker->path_capacity * sizeof *worker->paths);
		if (worker->paths == NULL)
			abort();
	}
	worker->paths[id] = (struct path_node){parent, caller};
	worker->path_index[at] = id;
	if (worker->path_count > worker->path_index_size / 2) {
		uint32_t mask = 2 * worker->path_index_size - 1;

		free(worker->path_index);
		worker->path_index_size *= 2;
		worker->path_index = calloc(worker->path_index_size, sizeof *worker->path_index);
		if (worker->path_index == NULL)
			abort();
		for (uint32_t i = 1; i < worker->path_count; i++) {
			uint32_t place = path_hash(worker->paths[i].parent, worker->paths[i].caller) & mask;

			while (worker->path_index[place] != 0)
				place = (place + 1) & mask;
			worker->path_index[place] = i;
		}
	}
	return id;
}

/* ---- who goes next ---- */

static uint64_t next_random(struct worker *worker)
{
	uint64_t z = worker->random += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* One of the set bits of mask, which is not 0; `after` is where a forward or reverse round stands. */
static uint32_t choose(struct worker *worker, uint32_t mask, uint32_t after)
{
	uint32_t rest;

	switch (worker->order) {
	case SIM_ORDER_REVERSE:
		rest = mask & ((1u << after) - 1);
		return 31u - (uint32_t)__builtin_clz(rest != 0 ? rest : mask);
	case SIM_ORDER_SHUFFLE: {
		uint32_t turn = (uint32_t)next_random(worker) & 31;
		uint32_t turned = mask >> turn | mask << ((32 - turn) & 31);

		return ((uint32_t)__builtin_ctz(turned) + turn) & 31;
	}
	default:
		rest = after >= 31 ? 0 : mask & ~((2u << after) - 1);
		return (uint32_t)__builtin_ctz(rest != 0 ? rest : mask);
	}
}

void lane_end(struct lane *lane)
{
	if (lane->worker->probing)
		abandon_block(lane->worker);
	lane->worker->progress++;
	lane->worker->ended++;
	lane_wait(lane, LANE_EXITED);
	abort(); /* nobody switches to a lane that has left */
}

/* Counted kernels do not come back here: the hook at their end ends the lane, since an overrun local array may have
 * reached what lies above their frame. */
static void lane_main(void)
{
	const struct launch *launch = sim_lane->worker->launch;

	launch->invoke(launch->arguments);
	lane_end(sim_lane);
}

/* A loop that goes through barriers for ever is told here that its time is up, other loops in check_time. */
static void check_time_at_barrier(struct worker *worker)
{
	struct lane *lane = worker->arrivals.first;

	if (worker->timed_out)
		report_spinning(worker, lane);
	if (worker->block_order > worker->launch->failed_order)
		abandon_block(worker);
}

static void check_time(struct worker *worker, struct warp *warp)
{
	for (uint32_t i = 0; worker->timed_out && i < warp->lane_count; i++)
		if (warp->lanes[i].state == LANE_FULL)
			report_spinning(worker, &warp->lanes[i]);
	if (worker->block_order > worker->launch->failed_order)
		abandon_block(worker); /* an earlier block has failed: what this one does no longer matters */
}

/* No lane of the warp can go on: counts what they did, and frees those whose windows were full. */
static void settle_warp(struct worker *worker, struct warp *warp)
{
	uint32_t present = warp_lanes(warp);
	bool final = (warp->at_barrier | warp->exited) == present;

	if (worker->instrumented)
		account_warp(worker, warp, final);
	if (final)
		return;
	check_time(worker, warp);
	for (uint32_t i = 0; i < warp->lane_count; i++)
		if (warp->lanes[i].state == LANE_FULL) {
			warp->lanes[i].state = LANE_READY;
			warp->ready |= 1u << i;
		}
	if (warp->ready == 0 && !settle_meetings(worker, warp) && !settle_active_mask(warp))
		report_stuck_warp(worker, warp);
	if (--warp->turns == 0) {
		/* It may be spinning on what another warp has to do. Each further round is longer, so that a long
		 * but honest loop is not slowed down by taking turns. */
		if (warp->turns_granted < MOST_TURNS)
			warp->turns_granted *= 2;
		warp->turns = warp->turns_granted;
		worker->yielded_warps |= 1u << (warp - worker->warps);
		worker->ready_warps &= ~(1u << (warp - worker->warps));
	}
}

static void release_barrier(struct worker *worker)
{
	if (worker->tracer != NULL)
		trace_end_interval(worker);
	worker->barrier_true = worker->arrivals.with_predicate;
	worker->barrier_waiting = worker->arrivals.count;
	worker->arrivals = (struct arrivals){NULL, NULL, 0, 0};
	worker->ready_warps = 0;
	for (uint32_t w = 0; w < worker->warp_count; w++) {
		struct warp *warp = &worker->warps[w];

		warp->ready = warp->at_barrier;
		warp->at_barrier = 0;
		warp->turns = warp->turns_granted = FIRST_TURNS;
		if (warp->ready != 0)
			worker->ready_warps |= 1u << w;
	}
	worker->current_warp = worker->order == SIM_ORDER_REVERSE ? 0 : 31;
	worker->tally.barriers++;
	worker->interval++;
	worker->progress++;
}

/* Every thread waits at the barrier or has left. Lets them go on if all wait at the same one; false when all have
 * left. A thread that has left counts as arrived, as on a GPU since compute capability 7.0. Without synccheck any
 * barrier is the barrier. */
static bool settle_block(struct worker *worker)
{
	struct lane *other = worker->arrivals.astray;

	if (worker->arrivals.first == NULL)
		return false;
	if (other != NULL && sim_options()->check[SIM_SYNCCHECK])
		report_divergent_barrier(worker, worker->arrivals.first, other);
	check_time_at_barrier(worker);
	if (worker->arrivals.count < worker->thread_count && sim_options()->check[SIM_SYNCCHECK])
		note_barrier_without_exited(worker);
	release_barrier(worker);
	return true;
}

/* The lane to run next; NULL when the block is done. */
static struct lane *next_lane(struct worker *worker)
{
	for (;;) {
		struct warp *warp = &worker->warps[worker->current_warp];

		if (worker->ready_warps >> worker->current_warp & 1) {
			if (warp->ready != 0) {
				uint32_t index = choose(worker, warp->ready, warp->last_lane);

				warp->last_lane = index;
				warp->ready &= ~(1u << index);
				return &warp->lanes[index];
			}
			settle_warp(worker, warp);
			if (warp->ready != 0 && (worker->ready_warps >> worker->current_warp & 1))
				continue;
			worker->ready_warps &= ~(1u << worker->current_warp);
		}
		if (worker->ready_warps == 0) {
			worker->ready_warps = worker->yielded_warps;
			worker->yielded_warps = 0;
		}
		if (worker->ready_warps == 0 && !settle_block(worker))
			return NULL;
		worker->current_warp = choose(worker, worker->ready_warps, worker->current_warp);
		worker->warps[worker->current_warp].last_lane = worker->order == SIM_ORDER_REVERSE ? 0 : 31;
	}
}

void lane_wait(struct lane *lane, enum lane_state state)
{
	struct worker *worker = lane->worker;
	struct lane *next;

	lane->state = state;
	if (lane->pending)
		capture_value(lane); /* before another lane writes there */
	if (state == LANE_AT_BARRIER)
		lane->warp->at_barrier |= 1u << lane->index;
	else if (state == LANE_EXITED)
		lane->warp->exited |= 1u << lane->index;
	sim_lane = NULL;
	next = next_lane(worker);
	sim_lane = next;
	if (next != lane)
		sim_fiber_switch(&lane->fiber, next != NULL ? &next->fiber : &worker->main);
	lane->state = LANE_READY;
}

/* ---- a block from start to end ---- */

static void open_warps(struct worker *worker)
{
	worker->ready_warps = worker->yielded_warps = 0;
	for (uint32_t w = 0; w < worker->warp_count; w++) {
		struct warp *warp = &worker->warps[w];
		uint32_t left = worker->thread_count - w * WARP_SIZE;

		warp->lanes = &worker->lanes[w * WARP_SIZE];
		warp->lane_count = left < WARP_SIZE ? left : WARP_SIZE;
		warp->ready = warp_lanes(warp);
		warp->exited = warp->at_barrier = 0;
		warp->turns = warp->turns_granted = FIRST_TURNS;
		warp->last_lane = worker->order == SIM_ORDER_REVERSE ? 0 : 31;
		account_forget(warp);
		worker->ready_warps |= 1u << w;
	}
	worker->current_warp = choose(worker, worker->ready_warps, worker->order == SIM_ORDER_REVERSE ? 0 : 31);
}

static void open_lanes(struct worker *worker)
{
	const dim3 size = worker->launch->block;

	for (uint32_t t = 0; t < worker->thread_count; t++) {
		struct lane *lane = &worker->lanes[t];

		lane->state = LANE_READY;
		lane->count = 0;
		lane->entered = lane->pending = 0;
		lane->copies = lane->copying = lane->overwrites = false;
		lane->checked = 0;
		memset(lane->recent_reads, 0, sizeof lane->recent_reads);
		lane->path = lane->place = 0;
		lane->frame = lane->frames;
		lane->stack_end = lane->frame->address = lane->stack_first + STACK_BYTES;
		lane->exp = 0;
		lane->thread.x = t % size.x;
		lane->thread.y = t / size.x % size.y;
		lane->thread.z = t / size.x / size.y;
		if (!lane->guarded) {
			guard_stack(lane);
			lane->guarded = true;
		}
		/* Tops are staggered: stacks that all end at the same place of a page fight for the same cache lines.
		 */
		sim_fiber_prepare(&lane->fiber, lane->stack_first + STACK_BYTES - t * 448 % 8192, lane_main);
	}
}

/* Shared memory holds nothing at the start of a block: NaN, so that what the last block left cannot help. */
static void empty_shared(struct worker *worker, uintptr_t first, size_t bytes)
{
	memset((void *)first, 0xff, bytes);
	if (worker->shared_written != NULL)
		memset(worker->shared_written + (first - worker->lanes[0].shared_first), 0, bytes);
}

static void fill_shared(struct worker *worker)
{
	const struct sim_function *function = worker->launch->function;

	empty_shared(worker, (uintptr_t)sim_dynamic_shared, worker->launch->dynamic_shared_bytes);
	for (uint32_t i = 0; function != NULL && i < function->shared_count; i++)
		empty_shared(worker, sim_shared_address(function->shared[i]), function->shared[i]->size);
}

void run_block(struct worker *worker)
{
	struct launch *launch = worker->launch;

	worker->thread_count = launch->block.x * launch->block.y * launch->block.z;
	worker->warp_count = (worker->thread_count + WARP_SIZE - 1) / WARP_SIZE;
	worker->random = sim_options()->order_seed * 0x9e3779b97f4a7c15u ^ worker->block_order << 20;
	worker->order = sim_options()->order;
	worker->instrumented = sim_is_counting();
	worker->arrivals = (struct arrivals){NULL, NULL, 0, 0};
	worker->first_interval = ++worker->interval;
	worker->finding_sequence = 0;
	open_lanes(worker);
	open_warps(worker);
	if (worker->race_cells != NULL)
		racecheck_open_block(worker);
	if (worker->instrumented)
		fill_shared(worker);
	if (worker->tracer != NULL)
		trace_begin_block(worker);
	struct lane *first = next_lane(worker);
	sim_lane = first;
	sim_fiber_switch(&worker->main, &first->fiber);
	sim_lane = NULL;
	if (worker->tracer != NULL)
		trace_end_block(worker);
	for (uint32_t t = 0; t < worker->thread_count; t++)
		worker->tally.exp += worker->lanes[t].exp;
}

void abandon_block(struct worker *worker)
{
	struct sim_fiber nowhere;

	sim_lane = NULL;
	sim_fiber_switch(&nowhere, &worker->main);
	abort();
}

const struct sim_function *probe_kernel(struct worker *worker)
{
	struct lane *lane = &worker->lanes[0];

	worker->probing = true;
	worker->probed = NULL;
	worker->thread_count = worker->warp_count = 1;
	open_lanes(worker);
	sim_lane = lane;
	sim_fiber_switch(&worker->main, &lane->fiber);
	sim_lane = NULL;
	worker->probing = false;
	return worker->probed;
}

void probe_found(struct lane *lane, const struct sim_function *function)
{
	lane->worker->probed = function;
	abandon_block(lane->worker);
}

/* ---- what kernels call ---- */

static __attribute__((noreturn, cold)) void refuse_on_host(const char *format, const char *name, uintptr_t caller)
{
	struct hazard place = {.signature = ""};

	if (caller != 0)
		hazard_locate_instruction(&place, caller - 1);
	fflush(stdout);
	if (place.line != 0)
		fprintf(stderr, "%s:%u: ", place.file, place.line);
	fprintf(stderr, format, name);
	exit(1);
}

/* The first statement of each kernel, put there by simcc. */
void sim_enter_kernel(const char *kernel)
{
	const uintptr_t *frame =
		*(uintptr_t **)__builtin_frame_address(0); /* the kernel's, where it is not optimised */

	if (sim_lane == NULL)
		refuse_on_host("error: kernel '%s' was called like a function: it needs <<<grid, block>>>\n", kernel,
		               sim_is_counting() ? frame[1] : 0);
}

/* For a __device__ function that was called on the host. */
static inline struct lane *running_lane(const char *name)
{
	struct lane *lane = sim_lane;

	if (__builtin_expect(lane == NULL, 0))
		refuse_on_host("error: %s was used by host code: it is there for kernels only\n", name, 0);
	return lane;
}

static void wait_at_barrier(int predicate, const void *site)
{
	struct lane *lane = running_lane("__syncthreads()");
	struct arrivals *arrivals = &lane->worker->arrivals;

	lane->site = site;
	lane->site_path = lane->path;
	if (arrivals->first == NULL)
		arrivals->first = lane;
	else if (arrivals->first->site != site || arrivals->first->site_path != lane->path)
		arrivals->astray = lane;
	arrivals->count++;
	arrivals->with_predicate += predicate != 0;
	lane_wait(lane, LANE_AT_BARRIER);
}

void sim_take_turns(void)
{
	struct lane *lane = sim_lane;

	if (lane == NULL)
		return;
	if (lane->worker->instrumented) {
		lane_wait(lane, LANE_FULL);
	} else if (++lane->count >= WINDOW) {
		lane->count = 0;
		lane_wait(lane, LANE_FULL);
	}
}

void sim_block_barrier(const void *site)
{
	wait_at_barrier(0, site);
}

int sim_block_reduce(enum sim_reduce kind, int predicate, const void *site)
{
	struct worker *worker = running_lane("__syncthreads()")->worker;

	wait_at_barrier(predicate, site);
	switch (kind) {
	case SIM_REDUCE_AND: return worker->barrier_true == worker->barrier_waiting;
	case SIM_REDUCE_OR: return worker->barrier_true > 0;
	default: return (int)worker->barrier_true;
	}
}

uint3 sim_thread_index(void)
{
	return running_lane("threadIdx")->thread;
}

uint3 sim_block_index(void)
{
	return running_lane("blockIdx")->worker->block;
}

dim3 sim_block_dim(void)
{
	return running_lane("blockDim")->worker->launch->block;
}

dim3 sim_grid_dim(void)
{
	return running_lane("gridDim")->worker->launch->grid;
}

bool sim_in_kernel(void)
{
	return sim_lane != NULL;
}

void sim_count_exp(void)
{
	sim_lane->exp++;
}
