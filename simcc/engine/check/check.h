/*
 * The checks. None of them ends anything: what ends a launch is returned as a hazard; what a launch goes on after is
 * collected as findings, which are told when it has ended.
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "report/report.h"

/* ---- findings: what a launch goes on after ---- */

struct finding;

/* The call paths of a worker: a tree, 0 is the kernel itself; and where in it a call leads. */
struct paths {
	struct path_node {
		uint32_t parent, call; /* a site */
	} * nodes;
	size_t count, capacity;
	uint32_t *index; /* hash table: node */
	uint32_t index_size;
};

/* A place that a thread has come to: the number of its site, and the calls that led there, + 1. 0: unknown. */
struct point {
	uint32_t site, path;
};

/* What one worker has found. All 0 at first, but for `paths` and `calls`, which only racecheck needs. */
struct findings {
	const struct paths *paths;
	uint32_t *calls;             /* [warp][site number]: the path, + 1, by which a warp came there last */
	struct point barrier;        /* that the block has passed last */
	struct point met[MAX_WARPS]; /* where lanes of a warp have synchronized last */
	uint3 block;
	uint64_t block_order; /* position of the block in the order of execution */
	uint64_t sequence;    /* of the next one within the block */
	struct finding *list;
	size_t count, capacity;
	bool is_full; /* there were more */
};

void findings_open_block(struct findings *findings, uint3 block, uint64_t order);
/* A warp executes the access of this key: what is found next may be of it. */
static inline void findings_note_calls(struct findings *findings, uint32_t warp, uint64_t key)
{
	findings->calls[(size_t)warp * site_count() + key_site(key)] = (uint32_t)(key >> KEY_PATH_SHIFT) + 1;
}
/* The block has passed a barrier, or lanes of the warp have met (MAX_WARPS: of all warps). */
void findings_pass(struct findings *findings, uint32_t warp, uint32_t site, uint64_t path);
/* Reports what the workers of a launch found, and forgets it. Adds the number of each tool's hazards to `hazards`. */
void findings_report(
	const struct request *request, struct findings *const *workers, int count, uint64_t hazards[SIM_TOOLS]);

/* ---- memcheck: access.c ---- */

enum {
	STACK_BYTES = 256 * 1024,
	STACK_RESERVE = 16 * 1024, /* what the engine and printf may need on top of a kernel's frames */
	LEAST_GUARD = 4096,        /* below and above a stack; a page, where those are larger (ARM64) */
	FRAME_BYTES = 16,          /* a caller's frame pointer and the return address, on the thread's stack */
};

/* A running function of device code: the place of its caller's frame pointer and of its return address, which an
 * overrun local array may reach, and what was there when the function began. */
struct frame {
	uintptr_t address, caller_frame, return_address;
	uint64_t caller_path;
};

/* A thread's stack: its local variables, and the functions that are running. */
struct local_memory {
	uintptr_t end;       /* where the thread's own memory ends: the frame of what called the kernel */
	struct frame *frame; /* of what runs now; frames[0] stands for what called the kernel, [1] is the kernel */
	uintptr_t first;     /* of STACK_BYTES */
	uintptr_t limit;     /* a frame below this has overflowed: STACK_RESERVE above `first`, or more */
	struct frame *frames, *frames_end;
};

/* Of it, what a kernel and the functions that it calls may use. */
static inline size_t room_of(const struct local_memory *local)
{
	return local->first + STACK_BYTES - local->limit;
}

/* What a thread may reach. */
struct reach {
	const struct local_memory *local;
	const struct shared_view *shared;
	size_t dynamic_shared_bytes;
	uintptr_t stacks; /* of all threads of the worker */
};

/* What is to be thought of an access that hooks.c does not recognize as a good one. Good after all are those up to
 * GOOD_LOCAL, in the order of enum sim_space: a __device__ variable; what is not counted, as a constant the compiler
 * keeps in the program's read-only data. */
enum verdict {
	GOOD_GLOBAL,
	GOOD_CONSTANT,
	GOOD_SHARED,
	GOOD_LOCAL,
	WRONG_GLOBAL,
	WRONG_CONSTANT,
	WRONG_SHARED,
	WRONG_LOCAL,
	WRONG_ANYWHERE
};
enum verdict judge_access(const struct reach *reach, uintptr_t address, size_t size, enum sim_op op);
/* What is wrong with one that is. */
struct hazard wrong_access(
	enum verdict verdict, const struct reach *reach, const struct actor *actor, uintptr_t address, size_t size,
	enum sim_op op, uint32_t site);
/* A function has found at its end that its frame is not what it was. */
struct hazard local_overrun(const struct actor *actor, const struct sim_site *end);
/* `function` is the one too many, `bytes` what its own variables need, `depth` how many functions were running, `call` that
 * of it; NULL: it is the kernel. */
struct hazard stack_overflow(
	const struct actor *actor, const struct sim_function *function, size_t bytes, size_t depth,
	const struct sim_site *call, size_t room);
/* In its further lines: one function alone has no room. */
void describe_large_frame(struct hazard *hazard, const char *signature, size_t bytes, size_t room);

/* ---- asynchronous copies: copycheck.c ---- */

/* One that has not arrived, and how its thread has waited: the site of its last wait (NO_SITE: none), how many groups that
 * left under way; whether the copy was begun behind it, or was in no group yet. */
struct copy_told {
	uint32_t site, thread;
	bool is_later, in_no_group;
	uint32_t waited_at, waited_for_all_but;
};
/* A thread's access meets it; or its thread has ended. */
void copy_met(
	struct findings *findings, const struct copy_told *copy, uint32_t thread, uintptr_t address, size_t size,
	enum sim_op op, uint32_t site);
void copy_lost(struct findings *findings, const struct copy_told *copy, uintptr_t address, size_t bytes);

/* ---- initcheck ---- */

/* The access of `size` bytes at `address` reads what was not written, as `written` says, a byte for each. `in_copy`:
 * of a whole struct, which may have padding. */
void initcheck_read(
	struct findings *findings, uint32_t thread, uintptr_t address, size_t size, enum sim_space space,
	const uint8_t *written, bool in_copy, uint32_t site);

/* ---- synccheck ---- */

/* A thread that waits, has left, or runs. */
struct waiter {
	enum { RUNS, WAITS_AT_BARRIER, WAITS_AT_WARP_OP, HAS_LEFT } state;
	uint3 thread;
	uint32_t number; /* of the thread in the block */
	uint32_t site;
	const char *intrinsic; /* the warp operation */
	unsigned mask;
};

/* Who waits for whom in vain. `waiting` of `total` threads wait where `one` does, `exited` have left. */
struct hazard divergent_barrier(
	const struct actor *actor, const struct waiter *one, const struct waiter *other, uint32_t waiting,
	uint32_t exited, uint32_t total);
/* `missing`: a lane of the mask that is not there; NULL: none is known. */
struct hazard missing_lane(const struct actor *actor, const struct waiter *one, const struct waiter *missing);
struct hazard bad_mask(const struct actor *actor, const struct waiter *one, const char *reason);
/* A thread that goes round in circles, through a barrier or about `site`. */
struct hazard endless_loop(const struct actor *actor, const struct waiter *one, uint32_t site);

/* What the launch goes on after. `one` of `waiting` threads passes a barrier without `missing`, which is one of those
 * that have left. */
void note_barrier_without(
	struct findings *findings, const struct waiter *one, const struct waiter *missing, uint32_t waiting,
	uint32_t total);
/* The lanes of a mask exchange values without `exited` of them, of which one is `missing`. */
void note_exchange_without(
	struct findings *findings, const struct waiter *one, const struct waiter *missing, uint32_t exited);
/* A shuffle of `one` reads a lane that does not take part. `is_alone`: nobody else does, and at an offset. */
void note_undefined_value(
	struct findings *findings, const struct waiter *one, const struct waiter *source, bool is_alone);

/* ---- racecheck: the rules stand at the top of racecheck.c ---- */

struct race;
struct race_launch;

/* `blocks`: of the whole grid. */
struct race_launch *race_open_launch(uint32_t number, uint64_t blocks);
void race_close_launch(struct race_launch *launch);
/* How much is known of the launch's races. */
void race_describe(const struct race_launch *launch, struct sim_launch *record);
/* What one worker needs for it, for good. */
struct race *race_open_worker(const struct shared_view *shared, struct findings *findings);

/* By the worker that runs the block. A thread is its number in the block, a warp that of 32 of them. */
void race_open_block(struct race *race, struct race_launch *launch, uint64_t block_order, uint32_t threads);
void race_pass_barrier(struct race *race);
/* The lanes of `group` have synchronized. */
void race_synchronise(struct race *race, uint32_t warp, uint32_t group);

/* Checks one warp-level instruction, or the part of it in `lanes`: addresses and, of stores, values of those lanes,
 * compact. */
void race_instruction(
	struct race *race, uint32_t warp, uint64_t key, uint32_t lanes, const uint64_t *address,
	const struct stored *value);
/* Checks what the thread has recorded so far, before its warp is accounted: so it did at a fence. */
void race_catch_up(struct race *race, uint32_t thread, struct window *window);
/* Has a lane of the warp caught up? Then how many records at the start of its window were checked. */
bool race_has_caught_up(const struct race *race, uint32_t warp);
uint32_t race_caught_up(const struct race *race, uint32_t thread);
/* The windows of the warp are empty. */
void race_forget_windows(struct race *race, uint32_t warp);

/* The thread has come to a fence. `block_only`, here and below: of the scope of a block. */
void race_fence(struct race *race, uint32_t thread, struct window *window, bool block_only);
/* It is about to do an atomic or a volatile store: what its fences cover may be acquired there. False: nothing new.
 */
bool race_release(struct race *race, uint32_t thread, uintptr_t address, bool block_only);
/* An atomic of it has changed `from` to `to`: so locks are left and, if it `may_take` them (atomicExch, atomicCAS), taken. */
void race_changed(
	struct race *race, uint32_t thread, struct window *window, uintptr_t address, uint64_t from, uint64_t to,
	bool may_take);
/* It is about to do a volatile store: so locks are left, too. */
void race_stored_strongly(struct race *race, uint32_t thread, struct window *window, uintptr_t address);
/* It does an atomic or a volatile load: a fence or barrier after it acquires what was released there. */
void race_look(struct race *race, uint32_t thread, uintptr_t address, bool block_only);

#endif
