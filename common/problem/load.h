/*
 * --load and --save: a directory with one .npy file a tensor, named after it in lower case (q.npy, do.npy, lse.npy).
 */
#ifndef PROBLEM_LOAD_H
#define PROBLEM_LOAD_H

#include "problem/npy.h"

/* DIR/name.npy in lower case; returns text. */
const char *tensor_path(const char *directory, const char *tensor, char *text, size_t size);

/*
 * Reads one input and lets its shape set the problem's dimensions; those in *fixed (dimension_fix) have to agree. NaN and
 * Inf are refused, -Inf unless it means something in this input. The caller owns *values.
 */
int load_tensor(
	const char *directory, const char *tensor, const char *letters, bool may_be_minus_infinity,
	struct problem *problem, uint64_t *fixed, float **values, struct error *error);

/* False only when there is no such file: one that cannot be read exists. */
bool tensor_file_exists(const char *directory, const char *tensor);

/* Writes one output, into a directory that is created if it is missing. */
int save_tensor(
	const char *directory, const char *tensor, const float *values, const size_t *shape, size_t rank,
	struct error *error);

#endif
