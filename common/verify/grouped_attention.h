/*
 * What attention of grouped heads should be: rows are tokens, H heads of queries share G of keys and values, and the N
 * queries are the last of M tokens.
 */
#ifndef VERIFY_GROUPED_ATTENTION_H
#define VERIFY_GROUPED_ATTENTION_H

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"

/* Does G divide H? Else EXIT_USAGE in *error. */
bool heads_are_grouped(const struct problem *problem, struct error *error);

/*
 * Adds what O [N, H, d] should be, from Q [N, H, d], K and V [M, G, d] among `inputs`. `rows` are the `count` rows (i, h) to
 * compare, as i H + h, and belong to the expectations; NULL means all N H of them. False without memory.
 */
bool grouped_attention_expect(
	const struct problem *problem, const struct named_values *inputs, size_t *rows, size_t count,
	struct expectations *expectations);

#endif
