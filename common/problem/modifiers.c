#include "problem/modifiers.h"

#include "problem/philox.h"
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
	modifiers.alibi = problem->alibi;
	modifiers.kv_heads = problem->kv_heads;
	modifiers.sink = problem->sink ? sink : NULL;
	modifiers.dropout = problem->dropout;
	modifiers.seed = problem->seed;
	modifiers.packing = problem->packing;
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

double alibi_slope(size_t head, size_t heads)
{
	return exp2(-8.0 * (double)(head + 1) / (double)heads);
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

uint32_t dropout_threshold(float p)
{
	return (uint32_t)((double)p * 4294967296.0);
}

double dropout_factor(const struct modifiers *modifiers, size_t head, size_t i, size_t j)
{
	const uint32_t counter[4] = {(uint32_t)j, (uint32_t)i, (uint32_t)head, 0};
	uint32_t words[4];
	if (!(modifiers->dropout > 0.0f))
		return 1.0;
	philox_4x32(counter, modifiers->seed, words);
	return words[0] < dropout_threshold(modifiers->dropout) ? 0.0 : 1.0 / (1.0 - (double)modifiers->dropout);
}
