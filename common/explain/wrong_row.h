/*
 * What the first wrong row of an output should be made of. For the page of --explain, which tells from it which keys a wrong
 * kernel took in.
 */
#ifndef EXPLAIN_WRONG_ROW_H
#define EXPLAIN_WRONG_ROW_H

#include "result.h"
#include "tensors.h"

enum { MOST_SCORES = 4096 };

/* The row that is wrong first: its scores by double arithmetic, and the column of V that its element of O mixes. */
struct wrong_row {
	size_t row, column, keys, visible; /* row: flat, of [B, H, N]; keys: 0 where there is no such row */
	double *scores, *values;           /* [keys], owned: wrong_row_free */
};

/* *row is left as it is where there is none: a variant of attention, over MOST_SCORES keys, no memory. */
void wrong_row_find(const struct kernel_result *kernel, const struct inputs *inputs, struct wrong_row *row);

void wrong_row_free(struct wrong_row *row);

#endif
