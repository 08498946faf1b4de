#include "problem/modifiers.h"

#include "support/number.h"

#include <math.h>

struct modifiers modifiers_of_variant(struct class_variant variant)
{
	return (struct modifiers){
		.window = variant.kind == VARIANT_WINDOW ? (size_t)variant.value : 0,
		.softcap = variant.kind == VARIANT_SOFTCAP ? variant.value : 0.0f};
}

struct modifiers modifiers_of_problem(const struct problem *problem, const float *sink)
{
	struct modifiers modifiers = modifiers_of_variant(problem->variant);
	if (problem->window)
		modifiers.window = problem->window;
	if (problem->softcap > 0.0f)
		modifiers.softcap = problem->softcap;
	modifiers.kv_heads = problem->kv_heads;
	modifiers.sink = problem->sink ? sink : NULL;
	modifiers.packing = problem->packing;
	modifiers.problem = problem;
	return modifiers;
}

struct visible keys_of_query(size_t window, bool causal, size_t seq, size_t query)
{
	struct visible keys = {0, causal ? query + 1 : seq};
	if (window && query >= window)
		keys.first = query - window + 1;
	if (window)
		keys.end = smaller(keys.end, query + window);
	return keys;
}

struct visible queries_of_key(size_t window, bool causal, size_t seq, size_t key)
{
	struct visible queries = keys_of_query(window, false, seq, key);
	if (causal)
		queries.first = key;
	return queries;
}

double soft_cap(float cap, double x)
{
	return cap > 0.0f ? (double)cap * tanh(x / (double)cap) : x;
}

double soft_cap_slope(float cap, double x)
{
	double t = cap > 0.0f ? tanh(x / (double)cap) : 0.0;
	return 1.0 - t * t;
}
