/*
 * From an attention problem to what its outputs should be: reference and tolerance put together.
 */
#ifndef VERIFY_ATTENTION_H
#define VERIFY_ATTENTION_H

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"

/*
 * What O [B, H, N, d] and LSE [B, H, N] should be, from the host values of Q, K and V (a list that ends with a NULL
 * name). Up to 2^30 products q k all rows are checked; beyond that 64 rows of each head, the first and the last
 * among them, the others drawn with the problem's seed.
 */
int attention_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

/*
 * The same, and what dQ, dK and dV [B, H, N, d] should be, from Q, K, V and dO. Where rows are sampled, dK and dV are
 * checked in one head only, drawn with the seed: a key's gradient needs the softmax of every query of its head.
 */
int attention_gradients_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

/*
 * Adds what O should be of the last query of each sequence alone: O [z, H, d], shape "zHd", with z the sequences, packed or
 * not. The O that is there, of all queries, gets the shape "BHNd".
 */
int attention_last_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

#endif
