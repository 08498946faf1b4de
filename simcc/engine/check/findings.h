/*
 * Hazards that do not end a launch: races, reads of what nobody wrote, threads that left before a barrier. There may
 * be one for every byte of every iteration, so workers collect them by what a reader can act on (the two places in
 * the source and the array), count the bytes, and keep the first example. They are reported when the
 * launch is over, in the order of blocks.
 */
#ifndef SIM_FINDINGS_H
#define SIM_FINDINGS_H

#include "check/check.h"

enum finding_kind {
	FINDING_UNINITIALISED,
	FINDING_READ_AFTER_WRITE,
	FINDING_WRITE_AFTER_READ,
	FINDING_WRITE_AFTER_WRITE,
	FINDING_LOST_COPY,      /* an asynchronous copy that its thread has not waited for when it ends */
	FINDING_EXITED_THREADS, /* a barrier, or an exchange of lanes, without threads that have left */
	FINDING_EXITED_LANE,    /* a shuffle from a lane of its mask that has left */
	FINDING_OUTSIDE_LANE,   /* a shuffle from a lane that does not take part in it */
	FINDING_KINDS,
};

enum finding_severity { FINDING_ERROR, FINDING_WARNING, FINDING_INFO };

/* What a race needs, where more is known than that a barrier or an atomic would do. */
enum finding_cure {
	CURE_UNKNOWN,
	CURE_FENCE_AFTER_LOOK,    /* the thread has read the flag, but has not executed a fence since */
	CURE_FENCE_AFTER_LOCK,    /* the other one took its lock without; the lock's order hides it here */
	CURE_FENCE_BEFORE_UNLOCK, /* this one leaves it without */
	CURE_ATOMICS,             /* the statement reads, changes and writes an element that others do this to, too */
};

/* Why an asynchronous copy has not arrived. */
enum finding_copy {
	COPY_NONE, /* it is none */
	COPY_NEVER_AWAITED,
	COPY_BEHIND_WAIT,        /* its thread has waited, and then begun it */
	COPY_IN_NO_GROUP,        /* its thread has waited, for groups */
	COPY_AWAITED_TOO_LITTLE, /* and has left this one's under way */
};

/* One of the two sides: what was done where, by whom. */
struct party {
	uint32_t site; /* index */
	enum sim_op op;
	uint32_t thread;      /* in the block, linear */
	uint64_t block_order; /* position of its block in the order of execution */
	struct point point;   /* filled in by findings_add, of races in a block */
};

/* The lines between which a barrier is missing, in the order in which a thread comes to them. */
struct gap {
	char file[256];
	unsigned from, to; /* 0: not known */
};

struct finding {
	enum finding_kind kind;
	enum finding_severity severity;
	enum sim_space space;
	struct party now, before; /* before: only of races */
	bool between_blocks;
	bool passed;   /* of a race: a thread came to `now` after it had itself passed `before`, no barrier between */
	bool returned; /* the other way round */
	enum finding_cure cure;
	enum finding_copy copy;                 /* `before` is one */
	uint32_t waited_at, waited_for_all_but; /* by its thread: the site of its last wait, groups that it left */
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
	struct point parting; /* of races in a block: the barrier, or where lanes met, last before `now` */
	const struct paths *paths;
	uint3 block;       /* of `now` */
	uint64_t sequence; /* when, within the block */
	const void
		*object; /* the allocation or shared array, the same in every worker; NULL: dynamic shared memory */
	bool has_offset;
	size_t offset; /* of address in it */
	char array[96];

	struct gap gap; /* filled in by advise */
};

/* Adds `finding` (count: its own bytes) to a worker's. */
void findings_add(struct findings *findings, const struct finding *finding);

/* Has a race been found with the asynchronous copies of this place? */
bool findings_of_copy(const struct findings *findings, uint32_t site);

/* The place, and the calls by which the warp came there last. */
struct point findings_point(const struct findings *findings, uint32_t warp, uint32_t site);

/* ---- advice.c ---- */

/* Does the text of the innermost function that runs when either is reached have `point` below `other`? False: not known. */
bool is_below(const struct paths *paths, struct point point, struct point other);
/* What a race needs: one sentence, and only what the evidence says. */
void advise(struct finding *finding, char *text, size_t length);

/* ---- sync_words.c ---- */

/* The headline of a hazard of synccheck: is a warp divided, or only the block? */
void sync_headline(struct hazard *hazard, bool in_warp);
/* The message of one of synccheck's findings. */
void describe_sync_finding(const struct request *request, const struct finding *finding, struct hazard *hazard);

#endif
