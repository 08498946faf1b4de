/*
 * What a model does to the scores of attention, and which keys its queries see, beyond a causal mask. For query i and key j of
 * head h, with s = scale q.k:
 *
 *     --softcap c       s becomes c tanh(s / c)
 *     --alibi           then s becomes s - m |i - j|, m = 2^(-8 (h + 1) / H)
 *     --window W        i sees j only if |i - j| < W: W keys when causal, up to 2 W - 1 when not. i sees itself, whatever W is
 *     --sink            one more score for each head, a learned number: it joins the denominator of the softmax, and has no value
 *     --dropout p       each weight, after the softmax, becomes 0 with probability p, or else is divided by 1 - p. The random
 *                       numbers are functions of --seed, sequence, h, i and j (philox.h)
 *     --kv-heads G      H / G heads of queries share a head of keys and values
 *     --lengths a,b     packed sequences (packing.h): i sees keys of its own sequence
 *
 * A class's variant (problem/variant.h) is one of them.
 */
#ifndef PROBLEM_MODIFIERS_H
#define PROBLEM_MODIFIERS_H

#include "problem/packing.h"
#include "problem/problem.h"
#include "problem/variant.h"

#include <stdbool.h>
#include <stddef.h>

struct modifiers {
	size_t window; /* W; 0: none */
	float softcap; /* c; 0: none */
	bool alibi;
	const float *sink; /* [H]; NULL: none */
	size_t kv_heads;   /* G, a divisor of H; 0: H */
	float dropout;     /* p; 0: none */
	uint64_t seed;     /* of dropout */
	struct packing packing;
};

/* Those of a class's attention. */
struct modifiers modifiers_of_variant(struct class_variant variant);

/* Those of the options, or of a class: in its hand-out there are no kernels that take the options. */
struct modifiers modifiers_of_problem(const struct problem *problem, const float *sink);

/* The keys that a query sees, or the queries that see a key, of a sequence: from `first` to before `end`, and never none. */
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

/* Of 2^32 words so many make a weight 0. */
uint32_t dropout_threshold(float p);

/* What the weight of key j is multiplied by for query i, both of one sequence: 0, or 1 / (1 - p). `head`: (sequence) H + h. */
double dropout_factor(const struct modifiers *modifiers, size_t head, size_t i, size_t j);

#endif
