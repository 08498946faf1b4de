#include "problem/row_inputs.h"

#include "problem/inputs.h"
#include "problem/modifiers.h"

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
	struct visible keys = keys_of_query(problem->window, true, problem->keys, problem->keys - problem->seq + row);
	float draw = input_normal(problem->seed, "one-hot", element / d);
	size_t token = keys.first + (size_t)(fabs((double)draw) * 1e6) % (keys.end - keys.first);
	size_t group = problem->heads / problem->kv_heads;
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
		if (k) {
			size_t token = i / problem->dim / problem->kv_heads;
			return (float)(8.0 * (double)(token + 1) / (double)problem->keys);
		}
		return is(tensor, "gate") ? 8.0f * rising : is(tensor, "residual") ? normal : rising;
	case INPUT_RANDOM:
	case INPUT_KINDS: break;
	}
	return normal;
}

/* Logits near the score of the last query's own key, which it sees under any mask: far above all scores a sink would take all
 * the weight, and nothing could be compared. */
static void fill_sinks(const struct problem *problem, float *values)
{
	size_t H = problem->heads, G = problem->kv_heads, d = problem->dim, rows = problem->seq, keys = problem->keys;
	for (size_t h = 0; h < H; h++) {
		double dot = 0.0;
		for (size_t c = 0; c < d; c++) {
			size_t q = ((rows - 1) * H + h) * d + c, k = ((keys - 1) * G + h * G / H) * d + c;
			dot += (double)element_of(problem, "Q", q, rows * H * d) *
			       (double)element_of(problem, "K", k, keys * G * d);
		}
		double score = soft_cap(problem->softcap, (double)problem->scale * dot);
		values[h] = (float)score + input_normal(problem->seed, "sink", h);
	}
}

void input_fill_rows(const struct problem *problem, const char *tensor, float *values)
{
	size_t count = elements_of(problem, tensor);
	if (is(tensor, "sink")) {
		fill_sinks(problem, values);
		return;
	}
	for (size_t i = 0; i < count; i++)
		values[i] = element_of(problem, tensor, i, count);
}
