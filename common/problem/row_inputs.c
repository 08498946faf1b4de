#include "problem/row_inputs.h"

#include "problem/inputs.h"

#include <math.h>
#include <string.h>

static bool is(const char *tensor, const char *name)
{
	return strcmp(tensor, name) == 0;
}

static size_t rows_of(const struct problem *problem, const char *tensor)
{
	return is(tensor, "K") || is(tensor, "V") ? problem->keys : problem->seq;
}

static size_t elements_of(const struct problem *problem, const char *tensor)
{
	size_t width = problem->heads * problem->dim;
	if (is(tensor, "weight"))
		return width;
	if (is(tensor, "W"))
		return width * width;
	return rows_of(problem, tensor) * (is(tensor, "K") || is(tensor, "V") ? problem->kv_heads : problem->heads) *
	       problem->dim;
}

/* A query becomes 64 times the key of a token that it sees under any mask: that one takes almost all of its weight. */
static float one_hot_query(const struct problem *problem, size_t element)
{
	size_t d = problem->dim, head = element / d % problem->heads, row = element / d / problem->heads;
	size_t seen = problem->keys - problem->seq + row + 1, group = problem->heads / problem->kv_heads;
	float draw = input_normal(problem->seed, "one-hot", element / d);
	size_t token = (size_t)(fabs((double)draw) * 1e6) % seen;
	return 64.0f * input_normal(problem->seed, "K", (token * problem->kv_heads + head / group) * d + element % d);
}

static float element_of(const struct problem *problem, const char *tensor, size_t i, size_t count)
{
	bool q = is(tensor, "Q"), k = is(tensor, "K"), scored = q || k || is(tensor, "gate") || is(tensor, "x");
	float normal = input_normal(problem->seed, tensor, i);
	float rising = (float)(2.0 * (double)i / (double)count - 1.0);
	switch (problem->input) {
	case INPUT_LARGE_LOGITS: return scored ? 50.0f * normal : normal;
	case INPUT_VERY_NEGATIVE: return !scored ? normal : (q ? 1.0f : -1.0f) * (16.0f + 0.25f * normal);
	case INPUT_CONSTANT: return scored ? 1.0f : normal;
	case INPUT_ONE_HOT: return q && problem->heads % problem->kv_heads == 0 ? one_hot_query(problem, i) : normal;
	case INPUT_RAMP:
		if (q)
			return 1.0f;
		if (k)
			return (float)(8.0 * (double)(i / problem->dim / problem->kv_heads + 1) / (double)problem->keys);
		return is(tensor, "gate") ? 8.0f * rising : is(tensor, "residual") ? normal : rising;
	case INPUT_RANDOM:
	case INPUT_KINDS: break;
	}
	return normal;
}

void input_fill_rows(const struct problem *problem, const char *tensor, float *values)
{
	size_t count = elements_of(problem, tensor);
	for (size_t i = 0; i < count; i++)
		values[i] = element_of(problem, tensor, i, count);
}
