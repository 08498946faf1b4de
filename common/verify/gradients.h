/*
 * The gradients of attention in double precision: what every backward kernel is compared with.
 *
 *     dV = P^T dO    dP = dO V^T    dS_ij = P_ij (dP_ij - sum_k P_ik dP_ik)    dQ = scale dS K    dK = scale dS^T Q
 *
 * A class's soft-cap multiplies dS by its derivative, 1 - tanh²(s / c) at the uncapped score s.
 *
 * dO is the gradient of a loss with respect to O. The inputs are the fp32 numbers the kernels get, scale included;
 * only the arithmetic is double. Chapter 06 derives the formulas; tests compare them with finite differences.
 */
#ifndef VERIFY_GRADIENTS_H
#define VERIFY_GRADIENTS_H

#include "verify/reference.h"

/* Flat indices (b H + h) N + i, ascending; NULL: all B H N rows. */
struct row_list {
	const size_t *rows;
	size_t count;
};

struct attention_gradients {
	double *dq;      /* [queries.count, d] */
	double *dk, *dv; /* [keys.count, d] */
	/* What the tolerance needs (verify/check.h): */
	double score_bound;   /* A: largest |scale| sum_c |q_ic k_jc| over the visible pairs of the rows computed */
	double weight_bound;  /* C: largest sum over the queries of one key's weights, at least 1 */
	double product_bound; /* G: largest |dO_i| times largest |v_j|, Euclidean norms of rows */
	double q_bound, k_bound, do_bound; /* largest absolute element of each */
};

/*
 * Computes dQ for the rows in `queries`, dK and dV for those in `keys`. A key costs its whole head, because every
 * query's softmax is needed; a query costs one row. The caller owns the result (attention_gradients_free). Returns
 * false when there is no memory.
 */
bool attention_gradients_compute(const struct attention_inputs *inputs, const float *d_o, struct row_list queries,
                                 struct row_list keys, struct attention_gradients *gradients);

void attention_gradients_free(struct attention_gradients *gradients);

#endif
