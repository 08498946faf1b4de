/*
 * C = A B in double precision, and what an fp32 product may differ from it.
 *
 * k products are rounded once each and summed in k - 1 additions; an fp32 sum of k terms is off by at most k eps/2 of
 * the sum of their magnitudes, in any order, fused or not (Higham, Accuracy and Stability, 3.1; eps = 2^-23). So
 *
 *     tolerance(C_ij) = eps * (1 + k/2) * sum_p |a_ip b_pj|          for each element its own
 *
 * A class's soft-cap rounds a few times more, relative to what it returns: 8 eps |C_ij| on top. Neither it nor a ReLU
 * makes an error larger.
 *
 * The errors of ordinary sums are far smaller, they go with sqrt(k); a term that is missing or doubled is far larger.
 */
#ifndef VERIFY_MATMUL_H
#define VERIFY_MATMUL_H

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"

double matmul_tolerance_factor(size_t k);

/*
 * What "C" [m, n] should be, from the host values of A [m, k] and B [k, n]. Up to 2^30 products all rows are checked;
 * beyond that SAMPLED_ROWS of them.
 */
int matmul_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

#endif
