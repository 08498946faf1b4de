/*
 * The state of a running launch: launch > worker (a pthread) > block > warp > lane (a CUDA thread, a fiber).
 *
 * Each lane records its accesses in a window. When no lane of a warp can go on (window full, barrier, left the
 * kernel), the records are worked off: ../count.
 */
#ifndef SIM_WORKER_H
#define SIM_WORKER_H

#include <pthread.h>

#include "run/fiber.h"
#include "run/run.h"

enum { FIRST_FRAMES = 16 }; /* calls that may nest before a lane needs more room to note them */

enum lane_state {
	LANE_READY,
	LANE_FULL,       /* its window is full */
	LANE_AT_BARRIER, /* __syncthreads and its kin */
	LANE_AT_WARP_OP, /* waits for the other lanes of its mask */
	LANE_AT_ACTIVE_MASK,
	LANE_EXITED,
};

/* What a lane brings to a warp operation, and takes away. */
struct meeting {
	enum { WARP_OP_SYNC, WARP_OP_SHUFFLE, WARP_OP_BALLOT } op;
	const char *intrinsic; /* which CUDA function the operation belongs to; compared by address */
	unsigned mask;
	enum sim_shuffle shuffle;
	int operand, width; /* of a shuffle */
	int predicate;      /* of a vote */
	uint64_t value, result;
};

enum { MOST_COPIED = 16, MAP_GRANULE = 4 };

/* An asynchronous copy. */
struct copy {
	uintptr_t to;
	uint32_t bytes, group, site;
	uint32_t number; /* in this block, by its thread */
	bool is_late;    /* its bytes are kept in `data` until it arrives */
	bool is_exposed; /* an access has met it: the map is as it was */
	struct stored data;
	uint16_t map[MOST_COPIED / MAP_GRANULE]; /* of shared memory, before */
};

/* Asynchronous copies of a thread that are under way, in the order in which they were issued. */
struct copies {
	struct copy *list;
	size_t count, capacity;
	uint32_t group;                         /* that is open */
	uint32_t issued;                        /* in this block */
	uint32_t waited_at, waited_for_all_but; /* the last wait: its site (NO_SITE: none), groups that it left */
	uint32_t waited_in, waited_after;       /* and then: the open group, copies issued */
};

struct lane {
	/* what a hook touches */
	struct window window;
	bool entered;    /* between entry and exit of the __global__ function */
	bool copies;     /* a whole struct, which may have padding that nobody writes */
	bool overwrites; /* initcheck: an atomicExch() */
	uint64_t path;   /* call path, shifted to its place in a key */
	struct shared_view shared;
	struct local_memory local;

	/* what the scheduler touches */
	struct worker *worker;
	struct warp *warp;
	enum lane_state state;
	uint32_t number, index; /* in the block, in the warp */
	uint3 thread;
	struct sim_fiber fiber;
	uint32_t site; /* number, of the barrier or warp operation it waits at */
	uint64_t site_path;
	uint64_t place; /* --fast: the calls that led here, of those that lead to __activemask */
	struct meeting meeting;
	uint64_t exp;
	struct copies copies_of;
};

struct warp {
	struct lane *lanes; /* the first of them */
	uint32_t lane_count;
	uint32_t ready, exited; /* masks of lanes */
	uint32_t at_barrier;
	uint32_t last_lane; /* that ran */
	uint32_t turns;     /* windows it may still fill before other warps are given a turn */
	uint32_t turns_granted;
	struct matcher matcher;
};

/* Who stands at the barrier, kept up to date as they come, so that letting them go costs nothing a thread. */
struct arrivals {
	struct lane *first;  /* NULL: nobody */
	struct lane *astray; /* one that came to another barrier than the first; NULL if none */
	uint32_t count, with_predicate;
};

struct worker {
	struct launch *launch;
	pthread_t thread;
	struct lane *lanes;
	struct warp warps[MAX_WARPS];
	char *stacks;
	uint32_t guards;       /* pages between stacks that are guarded, counted from the first */
	bool marks_pages;      /* madvise() can guard a page, and does */
	size_t guard_bytes;    /* of such a page */
	struct sim_fiber main; /* the worker's own stack */
	struct shared_memory shared;

	uint32_t warp_count, thread_count;
	uint32_t ready_warps;   /* mask of warps that may go on */
	uint32_t yielded_warps; /* and of those that gave the others a turn */
	uint32_t current_warp;
	enum sim_order order;
	bool instrumented;
	struct arrivals arrivals;               /* at the barrier that is filling */
	uint32_t barrier_true, barrier_waiting; /* of the one last passed */
	uint64_t random;
	uint3 block;
	uint64_t block_order; /* position of the block in the order of execution */
	struct paths paths;
	char *output; /* of the kernel's printf, this block */
	size_t output_length, output_capacity;

	uint32_t copies_under_way; /* of all lanes */
	struct audience audience;  /* of what lanes do */
	struct findings findings;

	_Atomic uint64_t ended;    /* threads */
	_Atomic uint64_t progress; /* threads ended and barriers passed */
	_Atomic bool timed_out;
	char *signal_stack, *landing_stack;
};

struct launch {
	const struct request *request;
	const struct invocation *invocation;
	uint64_t block_total;
	_Atomic uint64_t next_order;
	_Atomic uint64_t failed_order; /* the first block in order that ended in an error; UINT64_MAX if none */
	uint64_t order_multiplier, order_offset;
	struct race_launch *race;    /* NULL: off */
	struct traced_launch *trace; /* NULL: off */

	pthread_mutex_t lock; /* guards what follows */
	struct hazard *fault; /* of block failed_order */
	struct block_output *outputs;
	size_t output_count, output_capacity;
};

static inline struct actor actor_of(const struct lane *lane)
{
	return (struct actor){lane->worker->launch->request, lane->worker->block, lane->thread};
}

/* What makes a hazard, which is 2 KB of a lane's stack, is kept out of functions that run all the time. */
#define COLD __attribute__((cold, noinline))

/* ---- lane.c ---- */

/* Ends the block of the calling lane and never returns. */
void abandon_block(struct worker *worker) __attribute__((noreturn));
struct waiter waiter_of(const struct lane *lane);
/* Lanes of the warp that do nothing more before a point from which nothing matches what was before it. */
uint32_t ended_lanes(const struct warp *warp);
/* Ends the launch because of `hazard` (copied), found in the worker's block. Its lane goes on no more. */
void fail_launch(struct worker *worker, const struct hazard *hazard) __attribute__((noreturn));

/* ---- block.c ---- */

void worker_open(struct worker *worker);
void run_block(struct worker *worker);
/* Gives the other lanes a turn; returns when the calling lane may go on. */
void lane_wait(struct lane *lane, enum lane_state state);
/* The calling lane has left the kernel. */
void lane_end(struct lane *lane) __attribute__((noreturn));
/* ---- meetings.c ---- */

/* Are all lanes there that the last one waits for, or that can still come? */
bool all_have_come(const struct warp *warp, const struct lane *last);
/* All who can come have come: they exchange what they brought, and may go on. */
void complete_meeting(struct worker *worker, struct warp *warp, const struct lane *one);
/* Lets lanes go on whose warp operation is complete because those they waited for have left; true if there were any.
 */
bool settle_meetings(struct worker *worker, struct warp *warp);
/* Lets lanes at __activemask go on; true if there were any. */
bool settle_active_mask(struct warp *warp);
/* None of the lanes can go on: they wait for one another. */
void stop_stuck_warp(const struct warp *warp) __attribute__((noreturn));

/* ---- copies.c ---- */

/* From now on the map leads each access of its destination to copies_met(); until it arrives. */
void copies_add(struct lane *lane, const struct copy *copy);
void copies_arrive(struct lane *lane, struct copy *copy);
/* An access of shared memory into which a copy is under way. */
void copies_met(struct lane *lane, uintptr_t address, size_t size, enum sim_op op, uint32_t site);
/* The thread ends: what it has not waited for is said. */
void copies_end(struct lane *lane);
/* The block has ended, or was given up: the map of shared memory is as it was. */
void copies_forget(struct lane *lane);

/* ---- hooks.c ---- */

/* Of asynchronous copies: the first `bytes` of 2^width are read; a store whose value is known before it happens; what it is
 * racecheck's to know that arrived. */
void sim_copy_read(const void *pointer, unsigned width, size_t bytes, uint32_t site);
void sim_store_known(void *pointer, unsigned width, const struct stored *data, uint32_t site);
void sim_arrival(const void *pointer, unsigned width, const struct stored *data, uint32_t site);

/* ---- paths.c ---- */

void paths_open(struct paths *paths);
/* The node of a call from `caller`, in what `parent` stands for. */
uint32_t path_of_call(struct paths *paths, uint32_t parent, uint32_t call);
/* Calls nest deeper than there is room for. */
void add_frames(struct local_memory *local);

/* ---- faults.c: signals ---- */

void faults_install(void);
void faults_open_worker(struct worker *worker);
/* Interrupts a worker that spins without touching memory. */
void faults_interrupt(struct worker *worker);
/* The function that begins has no room for its variables, which have that many bytes. Ends the launch, and says so on another
 * stack: there may be little left of this one. */
_Noreturn void faults_overflow(const struct sim_function *function, size_t bytes);

#endif
