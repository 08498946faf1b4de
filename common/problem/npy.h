/*
 * NumPy's .npy files (format 1.0 and 2.0): fp32, little endian, C order.
 *
 * Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 * Every error is one line that names the file and what was expected. Reading fails with EXIT_USAGE (the file cannot
 * be used) or EXIT_ENVIRONMENT (no memory), writing with EXIT_ENVIRONMENT.
 */
#ifndef PROBLEM_NPY_H
#define PROBLEM_NPY_H

#include "problem/problem.h"
#include "support/error.h"

struct npy {
	size_t rank;
	size_t shape[MAX_RANK];
	float *values; /* owned by the caller: free() */
};

/*
 * Reads a whole file. Refused: other types (float64 too), big endian, Fortran order, more than MAX_RANK dimensions
 * or none, an empty array, a truncated or overlong file, NaN and Inf (their coordinates are in the message) except
 * -Inf where `allow_minus_infinity` says that it means something (scores that are masked).
 */
int npy_read(const char *path, bool allow_minus_infinity, struct npy *array, struct error *error);

/* Writes format 1.0, to a temporary file that is renamed when complete. */
int npy_write(const char *path, const float *values, const size_t *shape, size_t rank, struct error *error);

/* "(1, 2, 512, 64)" as NumPy prints a shape; returns text. */
const char *shape_to_text(const size_t *shape, size_t rank, char *text, size_t size);

#endif
