/*
 * Is this output right? The one tolerance and the one comparison of the course.
 *
 * The tolerance follows the arithmetic instead of being guessed (facts/attention.md §6). With
 *
 *     eps = 2^-23         one unit in the last place of an fp32 near 1
 *     A   = max |scale| sum_c |q_ic k_jc|    over visible (i, j): how large the terms of a score are
 *
 * an exactly computed softmax times V, done in fp32 in any order of summation, is off by at most about eps * phi,
 *
 *     phi = 8             the exponential and the division, a few roundings each
 *         + N/2           N terms summed, in the numerator and in the denominator
 *         + sqrt(d)/2 * A the dot product: d roundings of random sign, relative to its terms
 *         + 8 * A         scale (or scale log2 e) times q, m and L: each rounds a number as large as the score,
 *                         and exp turns an absolute error of a score into a relative one of its weight
 *
 *     tolerance(O) = eps * max|v| * phi          tolerance(LSE) = eps * phi
 *
 * The gradients sum the same weights over the queries, and pass through one more product of rows. With
 *
 *     C = max(1, max_j sum_i p_ij)                all the weight one key gets
 *     G = max_i |dO_i| max_j |v_j|                norms of rows: no element of dP or D is larger
 *
 *     tolerance(dV) = eps * max|dO| * C * phi
 *     tolerance(dQ) = eps * |scale| * max|k| * G * phi
 *     tolerance(dK) = eps * |scale| * max|q| * C * G * phi
 *
 * Where only sampled rows of random input are compared at N > 1024, the errors of a sum grow like a random walk, and
 * 2 sqrt(N) stands in the place of N/2.
 */
#ifndef VERIFY_CHECK_H
#define VERIFY_CHECK_H

#include "problem/problem.h"

#include <stdio.h>

struct tolerance_terms {
	size_t seq, dim;
	double score_bound;  /* A */
	bool sampled_random; /* rows sampled, input random: the random walk applies when N > 1024 */
};

/* phi */
double tolerance_factor(const struct tolerance_terms *terms);
double tolerance_of_output(const struct tolerance_terms *terms, double value_bound);
double tolerance_of_logsumexp(const struct tolerance_terms *terms);

struct gradient_bounds {
	double scale;                      /* |scale| */
	double weight_bound;               /* C */
	double product_bound;              /* G */
	double q_bound, k_bound, do_bound; /* max|q|, max|k|, max|dO| */
};

double tolerance_of_dq(const struct tolerance_terms *terms, const struct gradient_bounds *bounds);
double tolerance_of_dk(const struct tolerance_terms *terms, const struct gradient_bounds *bounds);
double tolerance_of_dv(const struct tolerance_terms *terms, const struct gradient_bounds *bounds);

/* What one output tensor should hold, seen as rows of its last dimension (LSE: rows of one element). */
struct expectation {
	const char *tensor;
	const char *shape; /* dimension letters, where two outputs share a name; NULL: the name is enough */
	size_t row_count, row_length;
	const size_t *rows;       /* flat indices of the rows that values holds, ascending; NULL: all rows */
	const double *values;     /* [row_count, row_length] */
	double tolerance;         /* absolute, of every element */
	const double *tolerances; /* [row_count, row_length]; where each element has its own, else NULL */
};

struct check {
	const char *tensor;
	size_t compared;   /* elements looked at */
	size_t non_finite; /* of these, NaN or infinite although a number was expected */
	double max_abs;    /* |actual - expected| of the worst element; NaN when an element is not finite */
	double tolerance;  /* of that element */
	size_t worst_row,
		worst_column; /* largest error relative to its tolerance; the first non-finite one if there is one */
	bool passed;
};

/* Compares `actual`, the whole tensor. NaN never passes. Nothing compared never passes either. */
struct check check_tensor(const struct expectation *expectation, const float *actual);

/* error / tolerance of element c of the expectation's row r; NaN or infinite where that is no number or none is
 * allowed. */
double check_element(const struct expectation *expectation, const float *actual, size_t r, size_t c);

/* Coordinates of an element in a tensor of this shape, from its flat row and column. */
void check_coordinates(size_t row, size_t column, size_t row_length, const size_t *shape, size_t rank,
                       size_t coordinates[MAX_RANK]);

/* Prints the worst element: tensor, coordinates, both values, and the elements around it in its row. */
void check_print_worst(FILE *out, const struct check *check, const struct expectation *expectation,
                       const float *actual, const size_t *shape, size_t rank);

/* error / tolerance; NaN when the check met a non-finite element. */
double check_ratio(const struct check *check);

/* True when a is a worse result than b, relative to its tolerance. NaN is worst. */
bool check_is_worse(const struct check *a, const struct check *b);

#endif
