/*
 * Chapter 07: how long an answer will take on the simulated device, said before it begins.
 *
 * model/pass_time.h tells it of the operations of this run and of the reference, which computes every logit again.
 */
#ifndef DURATION_H
#define DURATION_H

#include "traffic.h"

struct duration {
	size_t prompt, answer; /* tokens that are run */
	uint64_t bytes;        /* requested of global memory if all kernels are counted */
	double seconds;        /* 0: so little work that it was not measured */
};

/*
 * Of a prompt of `prompt` tokens and `answer` more. `always` measures little work, too. `pass` has run nothing yet; its
 * buffers are used. What was counted so far is forgotten. Returns what pass_run would.
 */
int duration_estimate(
	struct pass *pass, enum heads heads, size_t prompt, size_t answer, bool always, struct duration *duration,
	struct error *error);

/* Of --count-all: one line of at most 80 columns. */
void duration_print(FILE *out, const struct duration *duration);

#endif
