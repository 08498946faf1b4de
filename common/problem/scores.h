/*
 * Where the scores of a softmax come from when they are neither generated nor in x.npy.
 *
 *     --values 1,2,3               one row of numbers, -inf allowed
 *     --load DIR with q.npy, k.npy (and no x.npy)
 *                                  one row of the scores of attention, Q K^T / sqrt(d): row --row, counted through
 *                                  all heads, not masked; V is its head's part of v.npy, generated if there is none
 */
#ifndef PROBLEM_SCORES_H
#define PROBLEM_SCORES_H

#include "problem/options.h"

/* As struct chapter's `provide` (chapter.h). */
int scores_provide(
	const struct options *options, const char *tensor, struct problem *problem, uint64_t *fixed, float **values,
	struct error *error);

/* The row of x that --row means: of attention's scores, x holds just that one. */
size_t scores_row(const struct problem *problem);

#endif
