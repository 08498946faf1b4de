/*
 * Hazards that do not end a launch: races, reads of what nobody wrote, threads that left before a barrier. There may
 * be one for every byte of every iteration, so workers collect them by what a reader can act on (the two places in
 * the source and the array), count the bytes, and keep the first example. launch.c reports them when the launch is
 * over, in the order of blocks.
 */
#ifndef SIM_FINDINGS_H
#define SIM_FINDINGS_H

#include "engine.h"

struct worker;
struct launch;

enum finding_kind {
	FINDING_UNINITIALISED,
	FINDING_READ_AFTER_WRITE,
	FINDING_WRITE_AFTER_READ,
	FINDING_WRITE_AFTER_WRITE,
	FINDING_EXITED_THREADS, /* a barrier, or an exchange of lanes, without threads that have left */
	FINDING_EXITED_LANE,    /* a shuffle from a lane of its mask that has left */
	FINDING_OUTSIDE_LANE,   /* a shuffle from a lane that does not take part in it */
	FINDING_KINDS,
};

enum finding_severity { FINDING_ERROR, FINDING_WARNING, FINDING_INFO };

/* sim_site.scratch: a thread reads here plainly what it then does an atomic to; a shuffle that has delivered a value.
 */
enum { SITE_READS_BEFORE_ATOMIC = 1, SITE_DELIVERS = 2 };

/* One of the two sides: what was done where, by whom. */
struct party {
	uint32_t site; /* index */
	enum sim_op op;
	uint32_t thread;      /* in the block, linear */
	uint64_t block_order; /* position of its block in the order of execution */
};

struct finding {
	enum finding_kind kind;
	enum finding_severity severity;
	enum sim_space space;
	struct party now, before; /* before: only of races */
	bool between_blocks;
	bool read_beside_atomic; /* a finding only if that place of the source does not go on to an atomic */
	uintptr_t address;       /* in the worker that found it */
	unsigned bytes;          /* of the access */
	uint64_t count;          /* bytes in all; of synccheck: how often */

	/* synccheck; `before` is the thread that does not take part */
	const char *intrinsic;   /* the warp operation; NULL: a barrier */
	uint32_t mask;           /* of the warp operation */
	uint32_t waiting, total; /* threads at the barrier, and in the block */
	uint32_t exited;         /* threads missing: of the block, or of the mask */
	bool in_warp;            /* a warp is divided, not only the block */

	/* filled in by findings_add */
	uint64_t sequence; /* when, within the block */
	const void
		*object; /* the allocation or shared array, the same in every worker; NULL: dynamic shared memory */
	bool has_offset;
	size_t offset; /* of address in it */
	char array[96];
};

/* Adds `finding` (count: its own bytes) to the worker's collection. */
void findings_add(struct worker *worker, const struct finding *finding);
/* Reports what the workers of a launch found, and forgets it. Adds the number of each tool's hazards to `hazards`. */
void findings_report(const struct launch *launch, struct worker *workers, int count, uint64_t hazards[SIM_TOOLS]);

#endif
