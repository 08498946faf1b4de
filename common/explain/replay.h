/*
 * A kernel that came out wrong, run again on the first keys alone: from how many keys on is it wrong? For the page of
 * --explain. Keys [0, n) are a problem of their own, with a reference of its own.
 */
#ifndef EXPLAIN_REPLAY_H
#define EXPLAIN_REPLAY_H

#include "explain/run_again.h"
#include "explain/wrong_row.h"

enum { MAX_REPLAYS = 40 };

struct replay {
	size_t keys;
	struct rerun run;
};

struct replays {
	struct replay list[MAX_REPLAYS];
	size_t count, tile; /* tile: the step between two of them, in keys */
	struct wrong_row row;
};

/*
 * Replays a kernel of attention with more and more tiles of keys until it is wrong, then with as many as it takes to know
 * a number of keys with which it is right (or 0) and one more with which it is wrong. Only what ended without a hazard, on a
 * device that still runs, is replayed; of anything else there are none. replays_free frees what *replays holds.
 */
int replay_wrong(
	const struct run_result *result, const struct kernel_result *kernel, struct replays *replays,
	struct error *error);

void replays_free(struct replays *replays);

#endif
