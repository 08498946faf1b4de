/*
 * Is this output right? The one comparison of the course. How much an element may be off is said where its reference
 * is computed: verify/tolerance.h, or a chapter's reference.c.
 *
 * A row is compared element by element and, where the expectation says how far it may be off as a whole, by the root of
 * the sum of its squared errors.
 *
 * A comparison is worth as much as what it would refuse. The power of a row is what zeros would score in its place, the
 * largest |expected| / tolerance; a row that is off by more than 1 / power of itself fails. `power`, that of the output, is
 * its largest. Below 1 zeros would pass, rounding may exceed the result, and the output is not judged: it can be found
 * wrong, but not right.
 */
#ifndef VERIFY_CHECK_H
#define VERIFY_CHECK_H

#include "problem/problem.h"

#include <stdio.h>

/* What one output tensor should hold, seen as rows of its last dimension (LSE: rows of one element). */
struct expectation {
	const char *tensor;
	const char *shape; /* dimension letters, where two outputs share a name; NULL: the name is enough */
	size_t row_count, row_length;
	const size_t *rows;       /* flat indices of the rows that values holds, ascending; NULL: all rows */
	const double *values;     /* [row_count, row_length] */
	double tolerance;         /* absolute, of every element */
	const double *tolerances; /* [row_count, row_length]; where each element has its own, else NULL */
	const double *row_bounds; /* [row_count] of |row - expected row|; NULL: of elements alone */
};

struct check {
	const char *tensor;
	size_t compared;   /* elements looked at */
	size_t non_finite; /* of these, NaN or infinite although a number was expected */
	double max_abs;    /* |actual - expected| of the worst element; NaN when an element is not finite */
	double tolerance;  /* of that element */
	size_t worst_row,
		worst_column; /* largest error relative to its tolerance; the first non-finite one if there is one */
	double row_ratio; /* largest |row - expected row| / bound; 0 without bounds. Above 1 the worst element is in that row */
	double power; /* largest |expected| / tolerance: what zeros would score; infinite where no error is allowed */
	double least_power,
		median_power; /* of the rows that are judged, whose power is 1 and more; 0 if there are none */
	size_t rows, rows_not_judged;
	bool judged; /* power >= 1 */
	bool passed;
};

/* Compares `actual`, the whole tensor. NaN never passes. Nothing compared never passes either. */
struct check check_tensor(const struct expectation *expectation, const float *actual);

/* The tolerance of element c of the expectation's row r. */
double check_tolerance(const struct expectation *expectation, size_t r, size_t c);

/* error / tolerance of element c of the expectation's row r; where the whole row fails, at least that of the row. NaN or
 * infinite where that is no number or none is allowed. */
double check_element(const struct expectation *expectation, const float *actual, size_t r, size_t c);

/* Coordinates of an element in a tensor of this shape, from its flat row and column. */
void check_coordinates(
	size_t row, size_t column, size_t row_length, const size_t *shape, size_t rank, size_t coordinates[MAX_RANK]);

/* Prints the worst element: tensor, coordinates, both values, and the elements around it in its row. */
void check_print_worst(
	FILE *out, const struct check *check, const struct expectation *expectation, const float *actual,
	const size_t *shape, size_t rank);

/* Is every element within its tolerance, and a row as a whole not? */
bool check_fails_by_row(const struct check *check);

/* The check_element of the worst element; NaN when the check met a non-finite element. */
double check_ratio(const struct check *check);

/* True when a is a worse result than b, relative to its tolerance. NaN is worst. */
bool check_is_worse(const struct check *a, const struct check *b);

#endif
