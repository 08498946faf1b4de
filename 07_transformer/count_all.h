/*
 * Chapter 07: what --count-all will take, said before it begins.
 *
 * The bytes that the kernels will ask for are known, from closed forms (traffic.h). The rate is measured: the first layer's
 * gate projects one token, which is counted and timed. Projections take nearly all of the time.
 */
#ifndef COUNT_ALL_H
#define COUNT_ALL_H

#include "traffic.h"

struct estimate {
	uint64_t bytes;     /* requested of global memory by all kernels */
	double bytes_per_s; /* measured */
};

/*
 * For a prompt of `prompt` tokens and `answer` more of which each is run. `pass` has run nothing yet, on kernels that are
 * counted; its buffers are used. What was counted so far is forgotten. Returns what pass_run would.
 */
int estimate_make(
	struct pass *pass, enum heads heads, size_t prompt, size_t answer, struct estimate *estimate,
	struct error *error);

/* One line of at most 80 columns. */
void estimate_print(FILE *out, const struct estimate *estimate, size_t prompt, size_t answer);

#endif
