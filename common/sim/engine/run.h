/*
 * The state of a running launch: launch > worker (a pthread) > block > warp > lane (a CUDA thread, a fiber).
 *
 * Each lane records its accesses in a window. When no lane of a warp can go on (window full, barrier, left the
 * kernel), account.c groups the records of the lanes into warp-level instructions and counts them.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine.h"
#include "fiber.h"
#include "findings.h"

enum {
	WARP_SIZE = 32,
	MAX_THREADS = 1024,
	MAX_WARPS = MAX_THREADS / WARP_SIZE,
	WINDOW = 128, /* records a lane holds; 32 lanes of them fit the L1 and L2 caches */
	STACK_BYTES = 256 * 1024,
	STACK_RESERVE = 16 * 1024, /* what the engine and printf may need on top of a kernel's frames */
	GUARD_BYTES = 4096,
	FIRST_FRAMES = 16, /* calls that may nest before a lane needs more room to note them */
};

/*
 * A record is an address and a key. Equal keys mean: the same access of the source, reached by the same calls.
 *
 *     63      32 31   30 29  28    27      26     24 23        0
 *     call path | space |  op  | volatile | log2 size | site index
 */
enum {
	KEY_SITE_BITS = 24,
	KEY_SIZE_SHIFT = 24,
	KEY_VOLATILE_SHIFT = 27, /* of an atomic: it has the scope of a block */
	KEY_OP_SHIFT = 28,
	KEY_SPACE_SHIFT = 30,
	KEY_PATH_SHIFT = 32
};

static inline uint32_t key_site(uint64_t key)
{
	return key & ((1u << KEY_SITE_BITS) - 1);
}
static inline unsigned key_size(uint64_t key)
{
	return 1u << (key >> KEY_SIZE_SHIFT & 7);
}
static inline bool key_is_volatile(uint64_t key)
{
	return key >> KEY_VOLATILE_SHIFT & 1;
}
static inline enum sim_op key_op(uint64_t key)
{
	return (enum sim_op)(key >> KEY_OP_SHIFT & 3);
}
static inline enum sim_space key_space(uint64_t key)
{
	return (enum sim_space)(key >> KEY_SPACE_SHIFT & 3);
}

extern struct sim_site __start_sim_sites[] __attribute__((weak));
extern struct sim_site __stop_sim_sites[] __attribute__((weak));

static inline uint32_t site_index(const void *site)
{
	return site ? (uint32_t)((const struct sim_site *)site - __start_sim_sites) : (1u << KEY_SITE_BITS) - 1;
}

/* NULL for the index of "no site". */
static inline const struct sim_site *site_at(uint32_t index)
{
	return index == (1u << KEY_SITE_BITS) - 1 ? NULL : &__start_sim_sites[index];
}

enum { RECENT_READS = 4 };

enum lane_state {
	LANE_READY,
	LANE_FULL,       /* its window is full */
	LANE_AT_BARRIER, /* __syncthreads and its kin */
	LANE_AT_WARP_OP, /* waits for the other lanes of its mask */
	LANE_AT_ACTIVE_MASK,
	LANE_EXITED,
};

enum warp_op { WARP_OP_SYNC, WARP_OP_SHUFFLE, WARP_OP_BALLOT };

/* A running function of device code: the place of its caller's frame pointer and of its return address, which an
 * overrun local array may reach, and what was there when the function began. */
struct frame {
	uintptr_t address, caller_frame, return_address;
	uint64_t caller_path;
};
enum { FRAME_BYTES = 16 }; /* those two, on the thread's stack */

struct lane {
	/* what a hook touches */
	uint32_t count;   /* records in the window */
	uint16_t entered; /* between entry and exit of the __global__ function */
	uint16_t pending; /* racecheck: the last record is a store whose value is not there yet */
	bool copies;      /* a whole struct, which may have padding that nobody writes */
	bool copying;     /* racecheck: the pending stores are those of a copy, whose loads are recorded next */
	bool overwrites;  /* initcheck: an atomicExch() */
	uint32_t clock;   /* racecheck: the warp's, at its last fence or meeting, unless all lanes have met since */
	uint16_t checked; /* racecheck: records at the window's start that it has seen */
	uint64_t path;    /* call path, shifted to its place in a key */
	uintptr_t shared_first; /* where shared memory may lie in this pthread's thread-local storage */
	uintptr_t shared_span;
	const uint16_t *shared_map;
	uintptr_t stack_end; /* where the thread's own memory ends: the frame of what called the kernel */
	struct frame *frame; /* of what runs now; frames[0] stands for what called the kernel, [1] is the kernel */
	uintptr_t stack_first;
	uintptr_t stack_limit; /* a frame below this has overflowed */
	uint64_t *keys;
	uint64_t *addresses;
	uint64_t *values;        /* racecheck: what stores wrote */
	uint8_t *shared_written; /* initcheck: one byte for each of shared memory, 1 once it is written; NULL: off */

	/* what the scheduler touches */
	struct worker *worker;
	struct warp *warp;
	enum lane_state state;
	uint32_t index; /* in the warp */
	uint3 thread;
	struct sim_fiber fiber;
	const void *site; /* of the barrier or warp operation it waits at */
	uint64_t site_path;
	uint64_t place;     /* --fast: the calls that led here, of those that lead to __activemask */
	int predicate;      /* of a counting barrier, or a vote */
	int operand, width; /* of a shuffle */
	enum sim_shuffle shuffle;
	enum warp_op op;
	const char *intrinsic; /* which CUDA function the operation belongs to; compared by address */
	unsigned mask;
	uint64_t value, result;
	uint64_t exp;
	struct frame *frames, *frames_end;
	bool guarded; /* its stack has its guard pages */
	struct {
		uintptr_t address;
		uint32_t site;
	} recent_reads[RECENT_READS]; /* racecheck: plain ones of global memory, by address */
};

/* Accesses of one key that no other lane has matched yet: a queue a lane. Used once lanes have diverged. */
struct stream {
	uint64_t key;
	uint32_t follower; /* the stream of the access that came next, last time: a guess */
	struct {
		uint64_t *addresses;
		uint32_t first, count, capacity;
	} queue[WARP_SIZE];
};

struct warp {
	struct lane *lanes; /* the first of them */
	uint32_t lane_count;
	uint32_t ready, exited; /* masks of lanes */
	uint32_t at_barrier;
	uint32_t last_lane; /* that ran */
	uint32_t turns;     /* windows it may still fill before other warps are given a turn */
	uint32_t turns_granted;
	uint32_t clock;     /* racecheck: counts the times lanes of the warp have synchronised */
	uint32_t full_sync; /* when all of them last did */
	uint32_t pair_sync[WARP_SIZE][WARP_SIZE]; /* when these two did, in a smaller group */
	uint32_t first_clock;                     /* the clock when the block started */
	bool has_fenced;                          /* a lane has, since all of them last synchronised */
	bool checked_early;                       /* lanes have records that racecheck has seen */
	bool diverged;                            /* lanes' records since the last barrier were not the same */
	struct stream *streams;
	uint32_t stream_count, stream_capacity;
	uint32_t *stream_index; /* hash table: key -> stream, + 1 */
	uint32_t stream_index_size;
};

/* The lanes there are: the last warp of a block may have fewer than 32. */
static inline uint32_t warp_lanes(const struct warp *warp)
{
	return warp->lane_count == WARP_SIZE ? ~0u : (1u << warp->lane_count) - 1;
}

struct tensor_tally {
	uint64_t read, write, atomic;
};

/* What one worker has counted; summed at the end of the launch. */
struct tally {
	struct sim_global_count global[3]; /* by enum sim_op */
	struct sim_shared_count shared[3];
	struct sim_constant_count constant;
	uint64_t barriers, exp;
	struct tensor_tally *tensors; /* by allocation index */
};

struct path_node {
	uint32_t parent;
	uintptr_t caller;
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
	uint64_t *records;
	char *stacks;
	struct sim_fiber main; /* the worker's own stack */
	uint16_t *shared_map;
	bool mapped; /* the map is that of mapped_function */
	const struct sim_function *mapped_function;
	size_t shared_map_dynamic; /* bytes of dynamic shared memory the map was made for */

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
	struct tally tally;

	struct path_node *paths;
	uint32_t path_count, path_capacity;
	uint32_t *path_index;
	uint32_t path_index_size;

	struct tracer *tracer; /* SIM_TRACE: what the block touches; NULL: off */
	char *output;          /* of the kernel's printf, this block */
	size_t output_length, output_capacity;

	uint32_t interval;            /* counts barriers passed, over all blocks */
	uint32_t first_interval;      /* of this block */
	struct race_cell *race_cells; /* racecheck of shared memory: a cell for 4 bytes; NULL: off */
	struct race_cell *race_bytes; /* four cells for 4 bytes, where threads share a word */
	uint8_t *shared_written;
	struct block_order *ordering; /* racecheck: what its threads know of each other and of other blocks */
	bool has_fenced;              /* a thread of this block has executed a fence */
	struct finding *findings;
	size_t finding_count, finding_capacity;
	uint64_t finding_sequence;

	bool probing; /* only finding out which function the kernel is */
	const struct sim_function *probed;
	_Atomic uint64_t ended;    /* threads */
	_Atomic uint64_t progress; /* threads ended and barriers passed */
	_Atomic bool timed_out;
	char *signal_stack, *landing_stack;
};

struct block_output {
	uint64_t order;
	char *text;
	size_t length;
};

struct hazard;

struct launch {
	const struct sim_function *function; /* NULL where the program has no tables */
	const char *name;
	dim3 grid, block;
	size_t dynamic_shared_bytes;
	void (*invoke)(void *);
	void *arguments;
	uint64_t block_total;
	_Atomic uint64_t next_order;
	_Atomic uint64_t failed_order; /* the first block in order that ended in an error; UINT64_MAX if none */
	uint64_t order_multiplier, order_offset;
	uint32_t number;               /* counts launches, from 1 */
	struct launch_order *ordering; /* racecheck: what threads have released to each other; NULL: off */
	_Atomic bool has_releases;     /* there is something in it */

	struct traced_launch *trace; /* SIM_TRACE; NULL: off */

	pthread_mutex_t lock; /* guards what follows */
	struct hazard *fault; /* of block failed_order */
	cudaError_t error;
	struct block_output *outputs;
	size_t output_count, output_capacity;
};

/* The lane that is running on this pthread; NULL on a host thread and in the scheduler of a worker. */
extern __thread struct lane *sim_lane __attribute__((tls_model("local-exec")));

/* The block that is `order`-th to be run. In launch.c. */
uint3 launch_block_at(const struct launch *launch, uint64_t order);

/* ---- limits.c: cudaSuccess, or why a GPU would not accept the launch ---- */
cudaError_t check_shape(const struct launch *launch);
cudaError_t check_shared_memory(const struct launch *launch, const void *kernel);

/* ---- initcheck.c ---- */
void report_uninitialised(struct lane *lane, uintptr_t address, size_t size, enum sim_space space, const void *site);

/* ---- racecheck.c ---- */
bool racecheck_open_worker(struct worker *worker);
/* Checks one warp-level instruction, or the part of it in `lanes`: addresses and, of stores, values of those lanes,
 * compact. */
void racecheck_instruction(struct worker *worker, const struct warp *warp, uint64_t key, uint32_t lanes,
                           const uint64_t *address, const uint64_t *value);
void racecheck_open_block(struct worker *worker);
/* The lanes of `group` have synchronised. */
void racecheck_synchronise(struct worker *worker, struct warp *warp, uint32_t group);
/* Checks what the lane has recorded so far, before its warp is accounted. */
void racecheck_catch_up(struct lane *lane);
void racecheck_forget(struct sim_allocation *allocation);

/* ---- ordering.c: fences, releases and acquires; all but the first four are called while a block runs ---- */
struct launch_order *ordering_open_launch(void); /* NULL: no memory, nothing is ordered by them */
void ordering_close_launch(struct launch_order *order);
struct block_order *ordering_open_worker(void);
/* The lane has come to a fence. `block_only`, here and below: of the scope of a block. */
void ordering_fence(struct lane *lane, bool block_only);
/* It is about to do an atomic or a volatile store: what its fences cover may be acquired there. False: nothing new.
 */
bool ordering_release(struct lane *lane, uintptr_t address, bool block_only);
/* It does an atomic or a volatile load: a fence or barrier after it acquires what was released there. */
void ordering_look(struct lane *lane, uintptr_t address, bool block_only);
void ordering_meet(struct worker *worker, struct warp *warp, uint32_t group);
/* Has the lane done no plain store since its last fence? Then a volatile store of it is a release. */
bool ordering_is_publishing(struct lane *lane);
void ordering_note_plain_store(struct lane *lane);

/* When something happened: block by its order, thread in it, barriers the block had passed, relative clock of the
 * warp. */
struct moment {
	uint64_t block;
	uint32_t thread, interval, clock;
};
/* Does the worker's thread know what happened at `before`? `address`: its place, if it was a release itself; or 0. */
bool ordering_knows(struct worker *worker, uint32_t thread, const struct moment *before, uintptr_t address);
/* Was the release `now` acquired by that block already? */
bool ordering_was_seen(struct worker *worker, const struct moment *now, uint64_t by_block, uintptr_t address);
static inline uint32_t lane_clock(const struct lane *lane)
{
	return lane->clock > lane->warp->full_sync ? lane->clock : lane->warp->full_sync;
}

/* ---- hooks.c calls these where its common case ends ---- */

/* Where an access lies that is no good access of an allocation or a shared array: SIM_LOCAL for what is not counted,
 * SIM_GLOBAL for __device__ variables, SIM_CONSTANT. Reports a wrong access and does not return. In access.c. */
enum sim_space classify_access(struct lane *lane, uintptr_t address, size_t size, enum sim_op op, const void *site);
/* `caller` is the return address of the call that was one too many. */
void report_stack_overflow(struct lane *lane, const struct sim_function *function, uintptr_t caller)
	__attribute__((noreturn));
/* A function has found at its end, where `instruction` lies, that its frame is not what it was. */
void report_overrun(struct lane *lane, uintptr_t instruction) __attribute__((noreturn));
void capture_value(struct lane *lane); /* in hooks.c */
void add_frames(struct lane *lane);    /* in block.c */
/* Adds a node to the tree of call paths at place `at` of the hash table. In block.c. */
uint32_t path_add(struct worker *worker, uint32_t parent, uintptr_t caller, uint32_t at);
void probe_found(struct lane *lane, const struct sim_function *function) __attribute__((noreturn));

/* In the map of shared memory (one entry for 4 bytes): 0 is no array's, this is an array's last, partly used entry.
 */
enum { SHARED_MAP_RAGGED = 0xffff };

static inline uint32_t path_hash(uint32_t parent, uintptr_t caller)
{
	return (uint32_t)(caller * 0x9e3779b97f4a7c15u >> 32) ^ parent * 0x85ebca6bu;
}

/* ---- block.c ---- */
bool worker_open(struct worker *worker);
void worker_set_kernel(struct worker *worker, const struct sim_function *function);
void worker_set_dynamic_shared(struct worker *worker, size_t bytes);
void run_block(struct worker *worker);
/* Finds the __global__ function behind launch->invoke without executing any of it. */
const struct sim_function *probe_kernel(struct worker *worker);
/* Gives the other lanes a turn; returns when the calling lane may go on. */
void lane_wait(struct lane *lane, enum lane_state state);
/* The calling lane has left the kernel. */
void lane_end(struct lane *lane) __attribute__((noreturn));
/* Ends the block of the calling lane and never returns. */
void abandon_block(struct worker *worker) __attribute__((noreturn));
/* Ends the launch because of `hazard` (copied), found in the calling lane's block. */
void fail_launch(struct worker *worker, const struct hazard *hazard, cudaError_t error) __attribute__((noreturn));

/* ---- warp.c ---- */
/* Lets lanes go on whose warp operation is complete because those they waited for have left; true if there were any.
 */
bool settle_meetings(struct worker *worker, struct warp *warp);
/* Lets lanes at __activemask go on; true if there were any. */
bool settle_active_mask(struct warp *warp);

/* ---- synccheck.c ---- */
/* Who waits for whom in vain; none returns. */
void report_stuck_warp(struct worker *worker, struct warp *warp) __attribute__((noreturn));
void report_divergent_barrier(struct worker *worker, struct lane *waiting, struct lane *other)
	__attribute__((noreturn));
void report_bad_mask(struct lane *lane, const char *reason) __attribute__((noreturn));
void report_spinning(struct worker *worker, struct lane *lane) __attribute__((noreturn));
/* What the launch goes on after. A barrier is about to be passed without the threads that have left. */
void note_barrier_without_exited(struct worker *worker);
/* The lanes of `group` exchange values; `mask` also names lanes that have left. */
void note_exchange_without_exited(struct worker *worker, const struct warp *warp, uint32_t group, uint32_t mask);
/* A shuffle of `lane`, one of `group`, reads lane `source`, which is none of them. */
void note_undefined_value(struct worker *worker, const struct lane *lane, uint32_t group, uint32_t source);
/* The message of one of these findings. */
void describe_sync_finding(const struct launch *launch, const struct finding *finding, struct hazard *hazard);

/* ---- account.c ---- */
/* Groups and counts the records of a warp none of whose lanes can go on; empties full windows. `final`: no lane
 * executes anything more before the next barrier, so nothing is kept for matching. */
void account_warp(struct worker *worker, struct warp *warp, bool final);
/* The lanes of `met` stand together (a shuffle, __syncwarp): no access of theirs from before matches a later one. */
void account_meeting(struct worker *worker, struct warp *warp, uint32_t met);
void account_forget(struct warp *warp);

/* ---- memory.c: what hooks and counting need of it ---- */
struct slot {
	uintptr_t first;
	size_t size;       /* 0: nothing there */
	uint8_t *written;  /* initcheck: one byte for each of the allocation, 1 once it is written; NULL: all of it is
	                    */
	uint64_t is_taken; /* by an allocation, or by the emptiness behind one. 8 bytes: a slot's place is a shift */
};
enum { SLOT_SHIFT = 20 };
extern uintptr_t sim_arena_first;
extern uintptr_t sim_arena_span;
extern struct slot *sim_slots;
extern struct sim_allocation **sim_slot_allocations;

void sim_memory_report_leaks(void);
size_t sim_allocation_count(void);
struct sim_allocation *sim_allocation_at(size_t index);
/* Marks bytes [address, address + length) of an allocation as touched by this launch. */
void sim_mark_footprint(struct sim_allocation *allocation, uintptr_t address, size_t length, enum sim_op op);
/* Counts the marks of an allocation and clears them. */
struct sim_footprint sim_take_footprint(struct sim_allocation *allocation);

/* ---- symbols.c ---- */
const struct sim_shared *sim_shared_holding(uintptr_t address); /* of the calling pthread; NULL if none */
uintptr_t sim_shared_address(const struct sim_shared *array);   /* in the calling pthread */
size_t sim_function_count(void);
const struct sim_function *sim_function_number(size_t index);
size_t sim_shared_count_all(void);
const struct sim_shared *sim_shared_at(size_t index);
extern __thread char sim_dynamic_shared[] __attribute__((tls_model("local-exec")));
enum { DYNAMIC_SHARED_MAX = 256 * 1024 };

/* ---- diagnose.c ---- */
struct hazard {
	enum sim_tool tool;
	const char *kind;     /* as in the hazard record: "out_of_bounds" */
	const char *severity; /* "error", "warning", "info" */
	const char *kernel;   /* name without arguments */
	const char *signature;
	bool has_place; /* block and thread are known */
	uint3 block, thread;
	char file[256];
	unsigned line, column; /* 0: unknown */
	const char *space;     /* "global", "shared", "local", NULL */
	char array[96];        /* tensor or shared array, "" if unknown */
	int64_t index;         /* element of the access's size from the start of the array; INT64_MIN if unknown */
	unsigned bytes;
	uint64_t count;
	bool has_other;
	uint3 other_thread;
	unsigned other_line, other_column;
	char other_op[32];
	char other_file[256];
	char headline[400];  /* "Invalid __global__ write of size 4 bytes" */
	char advice[200];    /* one sentence, "" if the evidence allows none */
	uint32_t launch;     /* its number; 0: none */
	bool silent;         /* recorded and counted, not printed */
	char detail[3][200]; /* further lines, "" if unused */
};

/* A hazard of the running lane at `site`, with everything filled in that follows from those. */
struct hazard hazard_at(const struct lane *lane, const void *site, enum sim_tool tool, const char *kind);
/* As messages and records spell them: "shared", "write". */
const char *space_name(enum sim_space space);
const char *op_name(enum sim_op op);
/* Writes its record and counts it. Prints it, unless it is silent, if it is the first of its kind at its place:
 * kernel and lines of source. True if it is; the others are summed up at the end of the program. */
bool report_hazard(const struct hazard *hazard);
void hazard_set_location(struct hazard *hazard, const void *site);

/* ---- faults.c ---- */
void faults_install(void);
void faults_open_worker(struct worker *worker);
/* Interrupts a worker that spins without touching memory. */
void faults_interrupt(struct worker *worker);
/* Fills in file, line and function of an instruction, from the debug information simcc always adds. */
void hazard_locate_instruction(struct hazard *hazard, uintptr_t instruction);

/* ---- report.c ---- */
FILE *report_file(void); /* NULL when no SIM_REPORT was asked for */
void report_launch(const struct sim_launch *launch);
void write_json_string(FILE *out, const char *text);
/* Keeps a finished launch for sim_launch_at; takes its tensors over. */
void keep_launch(const struct sim_launch *launch);

#endif
