/*
 * Naive attention in double precision: what every kernel is compared with.
 *
 *     S = scale Q K^T,   P = softmax(S) row by row,   O = P V,   LSE_i = ln sum_j exp(S_ij)
 *
 * The inputs are the fp32 numbers the kernels get, scale included; only the arithmetic is double. What models do to S
 * besides, and which of it they hide, is in problem/modifiers.h. A sink adds exp(sink_h) to the sums of its head.
 */
#ifndef VERIFY_REFERENCE_H
#define VERIFY_REFERENCE_H

#include "problem/modifiers.h"
#include "verify/tolerance.h"

#include <stdbool.h>
#include <stddef.h>

struct attention_inputs {
	size_t batch, heads, seq, dim; /* B H N d */
	bool causal;                   /* query i sees keys 0 to i */
	float scale;
	const float *q, *k, *v;     /* [B, H, N, d]; K and V [B, G, N, d] */
	struct modifiers modifiers; /* none in the plain course */
	bool random_walk;           /* for the tolerance: rows of random input are sampled */
};

/* The first row of K and V of the head that a row of Q belongs to. */
size_t first_key_row(const struct attention_inputs *in, size_t query_row);

/* The scores of a query, before the softmax, and what they need. */
struct query_scores {
	struct sequence sequence;     /* its own */
	struct visible keys;          /* those that it sees */
	double max, sum;              /* of the scores; of exp(score - max), the sink's included */
	struct tolerance_terms terms; /* of its weights */
};

/* Writes scores[j] of the keys that the query sees and, unless NULL, the derivative of each by its scale q.k; sums nothing. */
struct query_scores compute_scores(
	const struct attention_inputs *in, size_t query_row, double *scores, double *slopes);

/* What the chapter's rules multiply the weight of a key by, which the query sees: 1 without rules. */
double factor_of_weight(
	const struct attention_inputs *in, size_t query_row, const struct query_scores *query, size_t key);

/* exp(score - max) in the place of the scores, and their sum in *query. */
void exponentiate_scores(
	const struct attention_inputs *in, size_t query_row, double *scores, struct query_scores *query);

/* Values, and what an fp32 result may differ from them (verify/tolerance.h). */
struct attention_reference {
	double *o, *o_tolerance;     /* [row_count, d] */
	double *lse, *lse_tolerance; /* [row_count] */
	double *o_row;               /* [row_count] of a row of O as a whole */
};

/*
 * Computes the given rows, flat indices (b H + h) N + i; rows == NULL means all B H N of them, in order.
 * The caller owns the arrays (attention_reference_free). Returns false when there is no memory.
 */
bool attention_reference_compute(
	const struct attention_inputs *inputs, const size_t *rows, size_t row_count,
	struct attention_reference *reference);

void attention_reference_free(struct attention_reference *reference);

#endif
