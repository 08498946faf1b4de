/*
 * What a model does to the scores of attention, and which keys its queries see, beyond a causal mask. For query i and key j of
 * head h, with s = scale q.k:
 *
 *     --softcap c       s becomes c tanh(s / c)
 *     --window W        i sees j only if |i - j| < W: W keys when causal, up to 2 W - 1 when not. i sees itself, whatever W is
 *     --sink            one more score for each head, a learned number: it joins the denominator of the softmax, and has no value
 *     --kv-heads G      H / G heads of queries share a head of keys and values
 *     --lengths a,b     packed sequences (packing.h): i sees keys of its own sequence
 *
 * A class's variant (problem/variant.h) is one of them. A chapter may have rules of its own besides.
 */
#ifndef PROBLEM_MODIFIERS_H
#define PROBLEM_MODIFIERS_H

#include "problem/packing.h"
#include "problem/problem.h"
#include "problem/variant.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A chapter's own rules, in double precision; 09_variants has --alibi and --dropout. Query i and key j are counted from the start
 * of their sequence, `head` over the heads of queries of all sequences.
 */
struct score_rules {
	/* Subtracted from a score after its cap. */
	double (*bias)(const struct problem *problem, size_t head, size_t i, size_t j);
	/* What a weight is multiplied by after the softmax. */
	double (*factor)(const struct problem *problem, size_t head, size_t i, size_t j);
};

struct modifiers {
	size_t window;     /* W; 0: none */
	float softcap;     /* c; 0: none */
	const float *sink; /* [H]; NULL: none */
	size_t kv_heads;   /* G, a divisor of H; 0: H */
	struct packing packing;
	const struct problem *problem; /* whose `rules` apply; NULL: none. Not owned */
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

/* c tanh(x / c), and its derivative 1 - tanh²(x / c); x, and 1, where there is no cap. */
double soft_cap(float cap, double x);
double soft_cap_slope(float cap, double x);

#endif
