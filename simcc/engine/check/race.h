/*
 * What the files of racecheck share: the state of one worker's block, and what orders two accesses.
 *
 *     race.c       which accesses may meet, and what is found
 *     racecheck.c  programs without a fence: cells of a fixed size, since only barriers and warps order anything
 *     history.c    programs with a fence: every access that a later one could race with
 *     ordering.c   what threads know of each other, by releases and acquires
 *     locks.c      who held which lock, and how it was taken
 */
#ifndef SIM_RACE_H
#define SIM_RACE_H

#include <pthread.h>

#include "check/findings.h"

enum { RECENT_READS = 4, RELEASE_FILTER_BITS = 1 << 12, WORD_LOCKS = 64, MOST_HELD = 4 };

/* How a byte is touched. */
enum touch { PLAIN_LOAD, VOLATILE_LOAD, PLAIN_STORE, VOLATILE_STORE, RELEASING_STORE, ATOMIC, BLOCK_ATOMIC, TOUCHES };

/* Whom a fence or an atomic reaches. */
enum scope { SCOPE_BLOCK, SCOPE_DEVICE, SCOPES };

/* What has nothing between two accesses. */
enum apart { ORDERED, LANES, WARPS, BLOCKS };

/* A hash table of indices, + 1; 0 is free. */
struct table {
	uint32_t *slots;
	uint32_t size;
};

/* Memory that is given back all at once. */
struct arena {
	struct chunk *chunks; /* the last one first */
};
void *arena_take(struct arena *arena, size_t bytes);
void arena_empty(struct arena *arena);

/* What the threads of a launch have released to each other: ordering.c; who held its locks: locks.c. */
struct race_launch {
	uint32_t number;
	uint64_t block_count;
	_Atomic bool has_releases; /* there is something in it */
	_Atomic bool has_acquired; /* and a thread has acquired of it */
	_Atomic bool lost;         /* too much of it: what a release may have ordered counts as ordered */
	_Atomic bool incomplete;   /* some accesses could not be compared */
	_Atomic bool has_eras;     /* a block has passed very many barriers: see racecheck.c */
	pthread_mutex_t lock;      /* guards what has no atomic type */
	_Atomic uint64_t filter[RELEASE_FILTER_BITS / 64];
	struct variable *variables;
	size_t variable_count, variable_capacity;
	struct trail *trails;
	size_t trail_count, trail_capacity;
	struct table variable_table, trail_table;
	size_t publication_count;
	struct bounds *bounds;
	struct section *sections;
	size_t section_count, section_capacity;
	pthread_mutex_t words[WORD_LOCKS]; /* of the histories of global memory, by address */
	struct arena arena[WORD_LOCKS];    /* each with its lock */
};

/* When lane 0 of a warp executed an access, in executions of lanes 0: for the first time since a barrier, if `last` is
 * of after the last one, and for the last time. */
struct passes {
	uint64_t first, last;
};

struct recent_read {
	uintptr_t address;
	uint32_t site, interval;
};

/* The atomic that a place of the source, where what it changes was read, has been held against last. */
struct explanation {
	uint32_t launch, atomic, read_path, atomic_path;
};

struct race_warp {
	uint32_t lane_count;
	uint32_t clock;       /* counts the times lanes of the warp have synchronized, and fences */
	uint32_t first_clock; /* when the block started */
	uint32_t full_sync;   /* when all lanes last did */
	/* [lane][other]: of `other`, the lane knows what came before this clock, by meetings of smaller groups: its
	 * own, and what those it met had learned in theirs. */
	uint32_t known[WARP_SIZE][WARP_SIZE];
	uint32_t lane_clock[WARP_SIZE]; /* at its last fence or meeting, unless all lanes have met since */
	uint16_t caught_up[WARP_SIZE];  /* records at its window's start that have been checked */
	bool has_caught_up;             /* a lane has such records */
	bool has_fenced, has_looked;    /* a lane has, since all of them last synchronized */
	struct recent_read recent_reads[WARP_SIZE][RECENT_READS]; /* plain ones of global memory, by address */
};

struct race {
	struct race_launch *launch;
	struct findings *findings;
	const struct shared_view *shared;
	struct race_cell *cells; /* of shared memory: a cell for 4 bytes */
	struct race_cell *bytes; /* four cells for 4 bytes, where threads share a word */
	bool has_fences; /* the program has, or very many places: histories in place of cells, and what follows */
	struct history *words;     /* of shared memory, one for 4 bytes */
	struct arena arena;        /* theirs, until the next barrier */
	struct block_order *order; /* what its threads know of each other and of other blocks */
	struct block_locks *locks; /* that its threads hold */
	bool has_fenced;           /* a thread of this block has executed a fence */
	uint64_t block_order;      /* position of the block in the order of execution */
	uint32_t thread_count;
	uint32_t interval;                      /* counts barriers passed, over all blocks */
	uint32_t first_interval;                /* of this block */
	struct passes *passes;                  /* [warp][number of a site] */
	struct explanation *explanations;       /* [number of a site] */
	uint64_t executions, executions_before; /* of lanes 0: so far, and at the last barrier */
	bool is_of_lane_0;                      /* it takes part in what is being checked */
	struct race_warp warps[MAX_WARPS];
};

static inline uint32_t lane_clock(const struct race *race, uint32_t thread)
{
	const struct race_warp *warp = &race->warps[thread / WARP_SIZE];
	const uint32_t clock = warp->lane_clock[thread % WARP_SIZE];
	return clock > warp->full_sync ? clock : warp->full_sync;
}

/* Has a thread of the launch released anything? */
static inline bool has_releases(const struct race *race)
{
	return atomic_load_explicit(&race->launch->has_releases, memory_order_acquire);
}

/* Have these lanes of a warp synchronized, directly or by way of others, since the first one's access, when its clock
 * stood at `clock`? */
static inline bool are_ordered(const struct race_warp *warp, uint32_t lane, uint32_t clock, uint32_t other)
{
	return warp->full_sync > clock || warp->known[other][lane] > clock;
}

/* ---- race.c ---- */

/* May two accesses of different threads meet although nothing orders them? */
static inline bool race_may_meet(enum touch one, enum touch other, bool same_block)
{
	static const bool strong[] = {
		[VOLATILE_LOAD] = true, [RELEASING_STORE] = true, [ATOMIC] = true, [BLOCK_ATOMIC] = true};
	if (one <= VOLATILE_LOAD && other <= VOLATILE_LOAD)
		return true;
	return strong[one] && strong[other] && !(one == RELEASING_STORE && other == RELEASING_STORE) &&
	       (same_block || (one != BLOCK_ATOMIC && other != BLOCK_ATOMIC));
}
/* A thread of the warp has read there plainly what it now does an atomic to, with no barrier between. */
void race_explain_read(struct race *race, uint32_t warp, uint32_t read, uint32_t atomic);
/* A new launch begins. */
void race_forget_explanations(void);
static inline struct passes *race_passes(const struct race *race, uint32_t warp, uint32_t site)
{
	return &race->passes[(size_t)warp * site_count() + site];
}
/* Completes the finding, and adds it. */
void race_found(struct race *race, struct finding finding);

/* ---- history.c: one instruction, or the part of it in `lanes` ---- */

struct history *history_open_worker(const struct shared_view *shared);
void history_instruction(
	struct race *race, uint32_t warp, uint64_t key, uint32_t lanes, const uint64_t *address,
	const struct stored *value);

/* ---- ordering.c ---- */

struct block_order *ordering_open_worker(void);
void ordering_fence(struct race *race, uint32_t thread, bool block_only);
void ordering_meet(struct race *race, uint32_t warp, uint32_t group);
/* Has the thread done no plain store since its last fence? Then a volatile store of it is a release. */
bool ordering_is_publishing(struct race *race, uint32_t thread);
void ordering_note_plain_store(struct race *race, uint32_t thread);

/* When something happened: block by its order, thread in it, barriers the block had passed, relative clock of the
 * warp. */
struct moment {
	uint64_t block;
	uint32_t thread, interval, clock;
};
/* Where anything was released: does the thread know what happened at `before`? `address`: its place, if it was a
 * release itself; or 0. */
bool ordering_knows(struct race *race, uint32_t thread, const struct moment *before, uintptr_t address);
/* Does it know it even without what was released at these? */
struct shared_locks;
bool ordering_knows_without(
	struct race *race, uint32_t thread, const struct moment *before, const struct shared_locks *locks);
/* Would it know it, if it executed a fence now? */
bool ordering_would_know(struct race *race, uint32_t thread, const struct moment *before);
/* Was the release `now` acquired by that block already? */
bool ordering_was_seen(struct race *race, const struct moment *now, uint64_t by_block, uintptr_t address);

/* ---- locks.c ---- */

struct block_locks *locks_open_worker(void);
void locks_open_block(struct race *race);
void locks_pass_barrier(struct race *race);
void locks_fence(struct race *race, uint32_t thread, enum scope scope);
/* race_changed(): the thread takes or leaves it, or the value is another one while it is held. */
void locks_changed(struct race *race, uint32_t thread, uintptr_t address, uint64_t from, uint64_t to);
bool locks_holds_any(const struct race *race, uint32_t thread);
bool locks_holds(const struct race *race, uint32_t thread, uintptr_t address);
/* It is about to do a volatile store to a lock that it holds. If that does not free it, nobody can take it. */
void locks_may_leave(struct race *race, uint32_t thread, uintptr_t address);
/* It has done a volatile store, of this value. */
void locks_stored(struct race *race, uint32_t thread, uintptr_t address, uint64_t value);
/* It has read there what another thread wrote. */
void locks_inform(struct race *race, uint32_t thread, uintptr_t address);
/* The turn of the lock that the thread took last and holds; and the scope of the widest fence since, + 1. 0: none. */
uint32_t locks_held(const struct race *race, uint32_t thread, uint8_t *fenced);
/* The locks of which `section` was a turn or had one around it, and of which the thread has a turn now. */
struct shared_locks {
	uintptr_t address[MOST_HELD]; /* the one taken first last */
	uint32_t count;
	uint8_t fenced; /* after that one was taken for `section`: the scope of the widest fence, + 1 */
};
/* `fenced`: after the last of them. False: there are none, or the order of the turns may be due to what was read. */
bool locks_share(struct race *race, uint32_t section, uint8_t fenced, uint32_t thread, struct shared_locks *shared);
/* The finding will be one if the thread leaves that lock with no fence of that scope before. */
void locks_suspect(
	struct race *race, uint32_t thread, uintptr_t lock, enum scope scope, const struct finding *finding);

#endif
