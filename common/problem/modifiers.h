/*
 * What a model does to the scores of attention, and which keys its queries see, beyond a causal mask. For query i and key j of
 * head h, with s = scale q.k:
 *
 *     --softcap c       s becomes c tanh(s / c)
 *     --alibi           then s becomes s - m |i - j|, m = 2^(-8 (h + 1) / H)
 *     --window W        i sees j only if |i - j| < W: W keys when causal, up to 2 W - 1 when not. i sees itself, whatever W is
 *     --sink            one more score for each head, a learned number: it joins the denominator of the softmax, and has no value
 *     --kv-heads G      H / G heads of queries share a head of keys and values
 *
 * A class's variant (problem/variant.h) is one of them.
 */
#ifndef PROBLEM_MODIFIERS_H
#define PROBLEM_MODIFIERS_H

#include "problem/variant.h"

#include <stdbool.h>
#include <stddef.h>

struct modifiers {
	size_t window; /* W; 0: none */
	float softcap; /* c; 0: none */
	bool alibi;
	const float *sink; /* [H]; NULL: none */
	size_t kv_heads;   /* G, a divisor of H; 0: H */
};

/* Those of a class's attention. */
struct modifiers modifiers_of_variant(struct class_variant variant);

/* The keys that a query sees, or the queries that see a key: from `first` to before `end`, and never none. */
struct visible {
	size_t first, end;
};

struct visible keys_of_query(size_t window, bool causal, size_t seq, size_t query);
struct visible queries_of_key(size_t window, bool causal, size_t seq, size_t key);

/* m of head h of H: 2^(-8 (h + 1) / H). Press, Smith, Lewis: Train Short, Test Long, 2022, section 3. */
double alibi_slope(size_t head, size_t heads);

/* c tanh(x / c), and its derivative 1 - tanh²(x / c); x, and 1, where there is no cap. */
double soft_cap(float cap, double x);
double soft_cap_slope(float cap, double x);

#endif
