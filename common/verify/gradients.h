/*
 * The gradients of attention in double precision: what every backward kernel is compared with.
 *
 *     dV = P^T dO    dP = dO V^T    dS_ij = P_ij (dP_ij - sum_k P_ik dP_ik)    dQ = scale dS K    dK = scale dS^T Q
 *
 * A soft-cap multiplies dS by its derivative, 1 - t² with t = tanh(s / c) at the uncapped score s. The derivative is off by
 * 2 t / c times what s is off: S_i counts 1 + 2 / c times in the tolerance. A sink is a key whose value is 0, so its dP is 0:
 *
 *     dsink_h = - sum over the queries i of head h of exp(sink_h - LSE_i) D_i
 *
 * Heads of queries that share a head of keys add up in its dK and dV.
 *
 * dO is the gradient of a loss with respect to O. The inputs are the fp32 numbers the kernels get, scale included;
 * only the arithmetic is double. Chapter 06 derives the formulas; tests compare them with finite differences.
 */
#ifndef VERIFY_GRADIENTS_H
#define VERIFY_GRADIENTS_H

#include "verify/reference.h"

/* Flat indices (b H + h) N + i, of keys (b G + g) N + j, ascending; NULL: all of them. */
struct row_list {
	const size_t *rows;
	size_t count;
};

/* Values, and what an fp32 result may differ from them (verify/tolerance.h). */
struct attention_gradients {
	double *dq, *dq_tolerance;        /* [queries.count, d] */
	double *dk, *dk_tolerance;        /* [keys.count, d] */
	double *dv, *dv_tolerance;        /* [keys.count, d] */
	double *dq_row, *dk_row, *dv_row; /* [queries.count], [keys.count] of a row as a whole */
	/* [H], 0 without sinks; where keys are picked out, right only of the first head of queries of the first of them */
	double *dsink, *dsink_tolerance;
};

/*
 * Computes dQ for the rows in `queries`, dK and dV for those in `keys`. A key costs its whole head, because every
 * query's softmax is needed; a query costs one row. The caller owns the result (attention_gradients_free). Returns
 * false when there is no memory.
 */
bool attention_gradients_compute(
	const struct attention_inputs *inputs, const float *d_o, struct row_list queries, struct row_list keys,
	struct attention_gradients *gradients);

void attention_gradients_free(struct attention_gradients *gradients);

#endif
