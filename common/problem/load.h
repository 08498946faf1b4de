/*
 * --load and --save: a directory with one .npy file a tensor, named after it in lower case (q.npy, do.npy, lse.npy).
 */
#ifndef PROBLEM_LOAD_H
#define PROBLEM_LOAD_H

#include "problem/npy.h"

/* DIR/name.npy in lower case; returns text. */
const char *tensor_path(const char *directory, const char *tensor, char *text, size_t size);

/*
 * Reads one input and lets its shape set the problem's dimensions. A letter whose bit is in `fixed` (1 << position
 * in "BHNdRCmnk") is already set, by an option or by an earlier file, and has to agree. NaN and Inf are refused, -Inf
 * unless it means something in this input. The caller owns *values.
 */
int load_tensor(
	const char *directory, const char *tensor, const char *letters, bool may_be_minus_infinity,
	struct problem *problem, unsigned *fixed, float **values, struct error *error);

/*
 * Sets a dimension from an input, or refuses one that is out of range or differs from what fixed it before.
 * `source` names the input in the message: "x.npy: shape (3, 4)", "--values: 6 numbers".
 */
int dimension_fix(
	const char *source, char letter, size_t extent, struct problem *problem, unsigned *fixed,
	struct error *error);

/* False only when there is no such file: one that cannot be read exists. */
bool tensor_file_exists(const char *directory, const char *tensor);

/* The bit of a dimension letter in `fixed`. */
unsigned dimension_bit(char letter);

/*
 * Makes sure, before a long run, that a tensor can be written to the directory. A directory that is missing is
 * created and removed again: a run that fails leaves nothing behind.
 */
int save_check(const char *directory, const char *tensor, struct error *error);

/* Writes one output, into a directory that is created if it is missing. */
int save_tensor(
	const char *directory, const char *tensor, const float *values, const size_t *shape, size_t rank,
	struct error *error);

#endif
