/*
 * Running one block. Its threads are fibers on one pthread, so nothing in a block runs at the same time; which
 * thread goes next is decided here, by SIM_ORDER, each time one must wait. A warp's lanes run until none of them
 * can go on, then their records are worked off, then the next warp has its turn.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run/worker.h"

/* Windows a warp may fill before others are given a turn. Not ever more: threads may hand work to and fro. */
enum { FIRST_TURNS = 64, MOST_TURNS = 1024 };
enum { GUARD_INSTALL = 102 }; /* MADV_GUARD_INSTALL, where the C library lacks it */

/* ---- the worker's memory ---- */

void worker_open(struct worker *worker)
{
	/* Rows of records are padded so that the 32 of a warp do not share one set of a cache. */
	enum { ROW = WINDOW + 8, ROWS = 4 }; /* keys, addresses, values of two words */
	const bool races = sim_options()->check[SIM_RACECHECK] && sim_is_counting();
	worker->lanes = need(calloc(MAX_THREADS, sizeof *worker->lanes));
	uint64_t *records = need(reserve_pages((size_t)MAX_THREADS * ROWS * ROW * sizeof *records));
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	worker->guard_bytes = page > LEAST_GUARD ? page : LEAST_GUARD;
	worker->stacks = need(reserve_pages((size_t)MAX_THREADS * STACK_BYTES + worker->guard_bytes));
	worker->marks_pages =
		madvise(worker->stacks, worker->guard_bytes, -1) != 0; /* qemu-user says yes to any advice */
	struct frame *frames = need(calloc(MAX_THREADS * FIRST_FRAMES, sizeof *frames));
	paths_open(&worker->paths);
	shared_open(&worker->shared);
	for (uint32_t t = 0; t < MAX_THREADS; t++) {
		struct lane *lane = &worker->lanes[t];
		uint64_t *rows = records + (size_t)t * ROWS * ROW;
		lane->worker = worker;
		lane->warp = &worker->warps[t / WARP_SIZE];
		lane->number = t;
		lane->index = t % WARP_SIZE;
		lane->window = (struct window){
			.keys = rows,
			.addresses = rows + ROW,
			.values = races ? (struct stored *)(rows + 2 * ROW) : NULL};
		lane->shared = worker->shared.view;
		lane->local.first = (uintptr_t)worker->stacks + (size_t)t * STACK_BYTES;
		lane->local.limit = lane->local.first + STACK_RESERVE - LEAST_GUARD + worker->guard_bytes;
		lane->local.frames = frames + (size_t)t * FIRST_FRAMES;
		lane->local.frames_end = lane->local.frames + FIRST_FRAMES;
		lane->warp->matcher.windows[lane->index] = &lane->window;
	}
	for (uint32_t w = 0; w < MAX_WARPS; w++) {
		worker->warps[w].lanes = &worker->lanes[w * WARP_SIZE];
		worker->warps[w].matcher.warp = w;
	}
	if (!races)
		return;
	worker->audience.race = race_open_worker(&worker->shared.view, &worker->findings);
	worker->findings.paths = &worker->paths;
	worker->findings.calls = need(reserve_pages((size_t)MAX_WARPS * site_count() * sizeof(uint32_t)));
}

/* Pages between the stacks, below the first and above the last that is used, that cannot be touched: a large local array may
 * step over the limit between two calls, and an overrun one run up to its end. If the system refuses more of them, the checks
 * at function entry and exit remain. From Linux 6.13 on such a page is a mark in the page table, which is cheaper than a
 * mapping of its own. */
static void guard_stacks(struct worker *worker)
{
	for (; worker->guards <= worker->thread_count; worker->guards++) {
		void *page = worker->stacks + (size_t)worker->guards * STACK_BYTES;
		if (!worker->marks_pages || madvise(page, worker->guard_bytes, GUARD_INSTALL) != 0)
			(void)mprotect(page, worker->guard_bytes, PROT_NONE);
	}
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
	default: rest = mask & ~((2u << after) - 1); return (uint32_t)__builtin_ctz(rest != 0 ? rest : mask);
	}
}

/* What a round stands at before its first. */
static uint32_t before_first(const struct worker *worker)
{
	return worker->order == SIM_ORDER_REVERSE ? 0 : 31;
}

/* The built-in variables. */
__thread uint3 sim_builtin_thread __attribute__((tls_model("local-exec")));
__thread uint3 sim_builtin_block __attribute__((tls_model("local-exec")));
__thread dim3 sim_builtin_block_dim __attribute__((tls_model("local-exec")));
__thread dim3 sim_builtin_grid_dim __attribute__((tls_model("local-exec")));

void lane_end(struct lane *lane)
{
	copies_end(lane);
	lane->worker->progress++;
	lane->worker->ended++;
	lane_wait(lane, LANE_EXITED);
	abort(); /* nobody switches to a lane that has left */
}

/* Counted kernels do not come back here: the hook at their end ends the lane, since an overrun local array may have
 * reached what lies above their frame. */
static void lane_main(void)
{
	const struct invocation *invocation = sim_lane->worker->launch->invocation;
	sim_builtin_thread = sim_lane->thread;
	invocation->invoke(invocation->arguments);
	lane_end(sim_lane);
}

static _Noreturn COLD void stop_spinning(struct worker *worker, const struct lane *lane)
{
	const bool at_barrier = lane->state == LANE_AT_BARRIER;
	const struct actor actor = actor_of(lane);
	const struct waiter here = waiter_of(lane);
	const struct hazard hazard =
		endless_loop(&actor, &here, at_barrier ? lane->site : key_site(lane->window.keys[0]));
	fail_launch(worker, &hazard);
}

/* A loop that goes through barriers for ever is told here that its time is up, other loops in check_time. */
static void check_time_at_barrier(struct worker *worker)
{
	if (worker->timed_out)
		stop_spinning(worker, worker->arrivals.first);
	if (worker->block_order > worker->launch->failed_order)
		abandon_block(worker);
}

static void check_time(struct worker *worker, struct warp *warp)
{
	for (uint32_t i = 0; worker->timed_out && i < warp->lane_count; i++)
		if (warp->lanes[i].state == LANE_FULL)
			stop_spinning(worker, &warp->lanes[i]);
	if (worker->block_order > worker->launch->failed_order)
		abandon_block(worker); /* an earlier block has failed: what this one does no longer matters */
}

/* No lane of the warp can go on: counts what they did, and frees those whose windows were full. */
static void settle_warp(struct worker *worker, struct warp *warp)
{
	const bool final = (warp->at_barrier | warp->exited) == lanes_of(warp->lane_count);
	if (worker->instrumented)
		match_warp(&warp->matcher, &worker->audience, final ? ~0u : ended_lanes(warp), final);
	if (final)
		return;
	check_time(worker, warp);
	for (uint32_t i = 0; i < warp->lane_count; i++)
		if (warp->lanes[i].state == LANE_FULL) {
			warp->lanes[i].state = LANE_READY;
			warp->ready |= 1u << i;
		}
	if (warp->ready == 0 && !settle_meetings(worker, warp) && !settle_active_mask(warp))
		stop_stuck_warp(warp);
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
	if (worker->audience.tracer)
		trace_end_interval(worker->audience.tracer);
	if (worker->audience.race) {
		race_pass_barrier(worker->audience.race);
		findings_pass(
			&worker->findings, MAX_WARPS, worker->arrivals.first->site,
			worker->arrivals.first->site_path);
	}
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
	worker->current_warp = before_first(worker);
	/* An atomic that a thread did before it is an acquire now, for all of the block (racecheck.c): ARM64 wants to be told. */
	atomic_thread_fence(memory_order_acq_rel);
	worker->audience.tally.barriers++;
	worker->progress++;
}

/* Some threads wait where others do not come to. */
static _Noreturn COLD void stop_astray(struct worker *worker)
{
	const struct lane *first = worker->arrivals.first;
	uint32_t waiting = 0, exited = 0;
	for (uint32_t t = 0; t < worker->thread_count; t++) {
		const struct lane *lane = &worker->lanes[t];
		exited += lane->state == LANE_EXITED;
		waiting += lane->state == LANE_AT_BARRIER && lane->site == first->site &&
		           lane->site_path == first->site_path;
	}
	const struct actor actor = actor_of(first);
	const struct waiter here = waiter_of(first), there = waiter_of(worker->arrivals.astray);
	const struct hazard hazard = divergent_barrier(&actor, &here, &there, waiting, exited, worker->thread_count);
	fail_launch(worker, &hazard);
}

/* Some threads have left. A warp that is divided is the better example: both threads are named from it. */
static void note_missing_threads(struct worker *worker)
{
	const struct lane *waiting = worker->arrivals.first, *missing = NULL;
	bool in_warp = false;
	for (uint32_t w = 0; w < worker->warp_count && !in_warp; w++) {
		const struct warp *warp = &worker->warps[w];
		if (warp->exited == 0)
			continue;
		in_warp = warp->at_barrier != 0;
		if (!missing || in_warp)
			missing = &warp->lanes[__builtin_ctz(warp->exited)];
		if (in_warp)
			waiting = &warp->lanes[__builtin_ctz(warp->at_barrier)];
	}
	const struct waiter here = waiter_of(waiting), there = waiter_of(missing);
	note_barrier_without(&worker->findings, &here, &there, worker->arrivals.count, worker->thread_count);
}

/* Every thread waits at the barrier or has left. Lets them go on if all wait at the same one; false when all have
 * left. A thread that has left counts as arrived, as on a GPU since compute capability 7.0. Without synccheck any
 * barrier is the barrier. */
static bool settle_block(struct worker *worker)
{
	if (!worker->arrivals.first)
		return false;
	const bool checked = sim_options()->check[SIM_SYNCCHECK];
	if (worker->arrivals.astray && checked)
		stop_astray(worker);
	check_time_at_barrier(worker);
	if (worker->arrivals.count < worker->thread_count && checked)
		note_missing_threads(worker);
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
		worker->warps[worker->current_warp].last_lane = before_first(worker);
	}
}

void lane_wait(struct lane *lane, enum lane_state state)
{
	struct worker *worker = lane->worker;
	lane->state = state;
	if (lane->window.pending)
		window_capture(&lane->window); /* before another lane writes there */
	if (state == LANE_AT_BARRIER)
		lane->warp->at_barrier |= 1u << lane->index;
	else if (state == LANE_EXITED)
		lane->warp->exited |= 1u << lane->index;
	sim_lane = NULL;
	struct lane *next = next_lane(worker);
	sim_lane = next;
	if (next != lane) {
		const struct sim_site *const site = sim_call_site;
		sim_fiber_switch(&lane->fiber, next ? &next->fiber : &worker->main);
		sim_call_site = site;
		sim_builtin_thread = lane->thread;
	}
	lane->state = LANE_READY;
}

/* ---- a block from start to end ---- */

static void open_warps(struct worker *worker)
{
	worker->ready_warps = worker->yielded_warps = 0;
	for (uint32_t w = 0; w < worker->warp_count; w++) {
		struct warp *warp = &worker->warps[w];
		uint32_t left = worker->thread_count - w * WARP_SIZE;
		warp->lane_count = warp->matcher.lane_count = left < WARP_SIZE ? left : WARP_SIZE;
		warp->ready = lanes_of(warp->lane_count);
		warp->exited = warp->at_barrier = 0;
		warp->turns = warp->turns_granted = FIRST_TURNS;
		warp->last_lane = before_first(worker);
		match_nothing_more(&warp->matcher);
		worker->ready_warps |= 1u << w;
	}
	worker->current_warp = choose(worker, worker->ready_warps, before_first(worker));
}

static void open_lanes(struct worker *worker)
{
	const struct request *request = worker->launch->request;
	guard_stacks(worker);
	for (uint32_t t = 0; t < worker->thread_count; t++) {
		struct lane *lane = &worker->lanes[t];
		lane->state = LANE_READY;
		lane->window.count = lane->window.pending = 0;
		lane->entered = 0;
		lane->copies = lane->overwrites = false;
		lane->path = lane->place = 0;
		lane->local.frame = lane->local.frames;
		lane->local.end = lane->local.frame->address = lane->local.first + STACK_BYTES;
		lane->exp = 0;
		lane->thread = thread_index(request, t);
		/* Tops are staggered: stacks that all end at the same place of a page fight for the same cache lines.
		 */
		sim_fiber_prepare(&lane->fiber, lane->local.first + STACK_BYTES - t * 448 % 8192, lane_main);
	}
}

/* What lanes had recorded when an error stopped them. */
static void trace_windows(struct worker *worker)
{
	for (uint32_t t = 0; t < worker->thread_count; t++) {
		struct window *window = &worker->lanes[t].window;
		for (uint32_t i = 0; i < window->count; i++)
			trace_accesses(worker->audience.tracer, window->keys[i], &window->addresses[i], 1);
		window->count = 0;
	}
}

void run_block(struct worker *worker)
{
	struct launch *launch = worker->launch;
	const dim3 size = launch->request->block;
	struct audience *audience = &worker->audience;
	worker->thread_count = size.x * size.y * size.z;
	worker->warp_count = (worker->thread_count + WARP_SIZE - 1) / WARP_SIZE;
	worker->random = sim_options()->order_seed * 0x9e3779b97f4a7c15u ^ worker->block_order << 20;
	worker->order = sim_options()->order;
	worker->instrumented = sim_is_counting();
	worker->arrivals = (struct arrivals){NULL, NULL, 0, 0};
	sim_builtin_block = worker->block;
	sim_builtin_block_dim = size;
	sim_builtin_grid_dim = launch->request->grid;
	findings_open_block(&worker->findings, worker->block, worker->block_order);
	open_lanes(worker);
	open_warps(worker);
	if (audience->race)
		race_open_block(audience->race, launch->race, worker->block_order, worker->thread_count);
	if (worker->instrumented)
		shared_empty(&worker->shared);
	if (audience->tracer)
		trace_begin_block(audience->tracer, worker->block, worker->block_order);
	struct lane *first = next_lane(worker);
	sim_lane = first;
	sim_fiber_switch(&worker->main, &first->fiber);
	sim_lane = NULL;
	if (audience->tracer) {
		trace_windows(worker);
		trace_end_block(audience->tracer, worker->block_order >= launch->failed_order);
	}
	for (uint32_t t = 0; t < worker->thread_count; t++) {
		audience->tally.exp += worker->lanes[t].exp;
		copies_forget(&worker->lanes[t]);
	}
}

/* ---- what kernels call ---- */

/* A built-in variable, in a function that is for both sides. */
void sim_used_by_host(const char *name) __attribute__((noreturn));
void sim_used_by_host(const char *name)
{
	fflush(stdout);
	fprintf(stderr, "error: %s was used by host code: only kernels can use it\n", name);
	exit(1);
}

static void wait_at_barrier(int predicate, uint32_t site)
{
	struct lane *lane = sim_lane;
	struct arrivals *arrivals = &lane->worker->arrivals;
	lane->site = site;
	lane->site_path = lane->path;
	if (!arrivals->first)
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
	if (!lane)
		return;
	if (lane->worker->instrumented) {
		lane_wait(lane, LANE_FULL);
	} else if (++lane->window.count >= WINDOW) {
		lane->window.count = 0;
		lane_wait(lane, LANE_FULL);
	}
}

void sim_block_barrier(uint32_t site)
{
	wait_at_barrier(0, site);
}

int sim_block_reduce(enum sim_reduce kind, int predicate, uint32_t site)
{
	struct worker *worker = sim_lane->worker;
	wait_at_barrier(predicate, site);
	switch (kind) {
	case SIM_REDUCE_AND: return worker->barrier_true == worker->barrier_waiting;
	case SIM_REDUCE_OR: return worker->barrier_true > 0;
	default: return (int)worker->barrier_true;
	}
}

int sim_in_device_code(void)
{
	return sim_lane != NULL;
}

void sim_count_exp(void)
{
	sim_lane->exp++;
}

void sim_device_abort(cudaError_t error, uint32_t site, const char *file, unsigned line, const char *format, ...)
{
	const struct actor actor = actor_of(sim_lane);
	struct hazard hazard =
		hazard_of(&actor, site_at(site), SIM_MEMCHECK, error == cudaErrorAssert ? "assert" : "trap", error);
	if (file) {
		snprintf(hazard.file, sizeof hazard.file, "%s", file);
		hazard.line = line;
	}
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(hazard.headline, sizeof hazard.headline, format, arguments);
	va_end(arguments);
	fail_launch(sim_lane->worker, &hazard);
}

void sim_device_write(const char *text, size_t length)
{
	enum { MOST = 16 << 20 }; /* a GPU's buffer is 1 MB; more than this is a loop that prints */
	struct worker *worker = sim_lane->worker;
	if (worker->output_length + length > MOST)
		return;
	need_room(&worker->output, &worker->output_capacity, worker->output_length + length, 1);
	memcpy(worker->output + worker->output_length, text, length);
	worker->output_length += length;
}
