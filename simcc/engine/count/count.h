/*
 * From what lanes did to what warps did: the records of the lanes of a warp, put together to warp-level instructions,
 * and what those cost.
 */
#ifndef SIM_COUNT_H
#define SIM_COUNT_H

#include "check/check.h"

/* ---- what is counted ---- */

struct tensor_tally {
	uint64_t read, write, atomic;
};

/* What one worker has counted; summed at the end of the launch. */
struct tally {
	struct sim_global_count global[3]; /* by enum sim_op */
	struct sim_shared_count shared[3];
	struct sim_constant_count constant;
	uint64_t barriers, exp;
	struct tensor_tally *tensors; /* by allocation index; owned */
	size_t tensor_count; /* that there were when the launch began: a kernel has no pointer to a later one */
	/* of shared memory, by the number of the site and by enum sim_op, because a memcpy is both; owned */
	struct sim_shared_count (*sites)[3];
};

/* Empties it, for a launch. */
void tally_open(struct tally *tally);
/* The record of a launch gets what its workers have counted; its tensors and lines are the caller's to free. */
void tally_sum(struct sim_launch *record, struct tally *const *workers, int count);

/* Who hears of each instruction: the tally, and where they are wanted (else NULL) the trace and racecheck. */
struct audience {
	struct tally tally;
	struct tracer *tracer;
	struct race *race;
};

/* ---- a warp ---- */

struct stream;

/* The windows of a warp's lanes, and what was in them and has not found its instruction yet. */
struct matcher {
	uint32_t warp; /* its number in the block */
	uint32_t lane_count;
	struct window *windows[WARP_SIZE];
	bool diverged; /* lanes' records since the last barrier were not the same */
	struct stream *streams;
	size_t stream_count, stream_capacity;
	uint32_t *stream_index; /* hash table: key -> stream, + 1 */
	uint32_t stream_index_size;
};

/* Groups and counts the records of a warp none of whose lanes can go on; empties its windows. `ended`: lanes that do
 * nothing more before a point from which nothing matches what was before it. `final`: there all lanes stand, so
 * nothing is kept for matching. */
void match_warp(struct matcher *matcher, struct audience *audience, uint32_t ended, bool final);
/* The lanes of `met` stand together (a shuffle, __syncwarp): no access of theirs from before matches a later one. */
void match_meeting(struct matcher *matcher, struct audience *audience, uint32_t ended, uint32_t met);
void match_nothing_more(struct matcher *matcher);

#endif
