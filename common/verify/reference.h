/*
 * Naive attention in double precision: what every kernel is compared with.
 *
 *     S = scale Q K^T,   P = softmax(S) row by row,   O = P V,   LSE_i = ln sum_j exp(S_ij)
 *
 * The inputs are the fp32 numbers the kernels get, scale included; only the arithmetic is double. A class's variant
 * caps S or hides more of it.
 */
#ifndef VERIFY_REFERENCE_H
#define VERIFY_REFERENCE_H

#include "problem/variant.h"

#include <stdbool.h>
#include <stddef.h>

struct attention_inputs {
	size_t batch, heads, seq, dim; /* B H N d */
	bool causal;                   /* query i sees keys 0 to i */
	float scale;
	const float *q, *k, *v;       /* [B, H, N, d] */
	struct class_variant variant; /* what a class computes instead; plain in the course */
	bool random_walk;             /* for the tolerance: rows of random input are sampled */
};

/* Values, and what an fp32 result may differ from them (verify/tolerance.h). */
struct attention_reference {
	double *o, *o_tolerance;     /* [row_count, d] */
	double *lse, *lse_tolerance; /* [row_count] */
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
