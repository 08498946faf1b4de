/*
 * Softmax in double precision, row by row, and what an fp32 softmax may differ from it.
 *
 *     m_i = max_j x_ij   l_i = sum_j exp(x_ij - m_i)   y_ij = exp(x_ij - m_i) / l_i   (y V)_ic = sum_j y_ij v_jc
 *
 * A row of nothing but -inf has m = -inf, l = 0 and y = 0: nothing has no weight.
 *
 * The tolerance. The scores are given, so no dot product was rounded, and m is one of them: it has to be exact. With
 * eps = 2^-23, any order of summation keeps the others within
 *
 *     phi = 8      the exponential, the division, a merge's product: a few roundings each. x - m rounds relative to
 *                  its size t, which makes exp(-t) wrong by t/2 eps exp(-t): less than eps/5 of the largest weight
 *         + C/2    C positive terms summed, each addition off by eps/2 at most
 *
 *     tolerance(l_i)  = eps * l_i * phi
 *     tolerance(y_ij) = eps * max_j y_ij * phi     a row of its own each: a flat row beside a peaked one has weights
 *                                                  as small as the peaked one's errors may be
 *     tolerance(y V)  = sum_j (eps * phi * y_ij + 2^-126) |v_jc|         as in verify/tolerance.h, with S = 0
 *
 * A class's soft-cap rounds two numbers up to c a few times each: 8 c more in phi. With a sink, a whole row may be so
 * small that its quotients are below the smallest normal number, 2^-126, where fp32 has fewer digits: as much more is
 * allowed.
 */
#ifndef VERIFY_SOFTMAX_H
#define VERIFY_SOFTMAX_H

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"

struct softmax_row {
	double m, l;
};

/* One row: weights[cols] gets y. Returns m and l. */
struct softmax_row softmax_reference(const float *x, size_t cols, struct class_variant variant, double *weights);

/* The weight of a score x beside a largest one of m, neither divided by l nor NaN for -inf. */
double softmax_weight(double x, double m, struct class_variant variant);

/* phi for rows of this many columns */
double softmax_tolerance_factor(size_t cols, struct class_variant variant);

/*
 * What "y" [R, C], "y" [R, d] = softmax(x) V, "m" [R] and "l" [R] should be, from the host values of x [R, C] and,
 * where a kernel takes it, V [C, d]. Up to 2^30 products y v all rows are checked; beyond that SAMPLED_ROWS of them. A
 * --row that is no row of x is EXIT_USAGE.
 */
int softmax_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

#endif
