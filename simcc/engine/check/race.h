/* What racecheck.c and ordering.c share: the state of one worker's block, and what orders two accesses. */
#ifndef SIM_RACE_H
#define SIM_RACE_H

#include <pthread.h>

#include "check/findings.h"

enum { RECENT_READS = 4, RELEASE_FILTER_BITS = 1 << 12 };

/* A hash table of indices, + 1; 0 is free. */
struct table {
	uint32_t *slots;
	uint32_t size;
};

/* What the threads of a launch have released to each other: see ordering.c. */
struct race_launch {
	uint32_t number;
	uint64_t block_count;
	_Atomic bool has_releases; /* there is something in it */
	pthread_mutex_t lock;      /* guards what has no atomic type */
	_Atomic uint64_t filter[RELEASE_FILTER_BITS / 64];
	_Atomic bool lost;
	struct variable *variables;
	size_t variable_count, variable_capacity;
	struct trail *trails;
	size_t trail_count, trail_capacity;
	struct table variable_table, trail_table;
	size_t publication_count;
	struct bounds *bounds;
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
	struct {
		uintptr_t address;
		uint32_t site;
	} recent_reads[WARP_SIZE][RECENT_READS]; /* plain ones of global memory, by address */
};

struct race {
	struct race_launch *launch;
	struct findings *findings;
	const struct shared_view *shared;
	struct race_cell *cells; /* of shared memory: a cell for 4 bytes */
	struct race_cell *bytes; /* four cells for 4 bytes, where threads share a word */
	uint64_t block_order;    /* position of the block in the order of execution */
	uint32_t thread_count;
	uint32_t interval;         /* counts barriers passed, over all blocks */
	uint32_t first_interval;   /* of this block */
	bool has_fenced;           /* a thread of this block has executed a fence */
	struct block_order *order; /* what its threads know of each other and of other blocks */
	uint32_t *passed;          /* [warp][number of a site]: the interval in which lane 0 last executed it */
	bool is_of_lane_0;         /* it takes part in what is being checked */
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
/* Does the thread know what happened at `before`? `address`: its place, if it was a release itself; or 0. */
bool ordering_knows(struct race *race, uint32_t thread, const struct moment *before, uintptr_t address);
/* Was the release `now` acquired by that block already? */
bool ordering_was_seen(struct race *race, const struct moment *now, uint64_t by_block, uintptr_t address);

#endif
