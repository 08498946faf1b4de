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

/* The sequence of a query, and where in it the query stands: it is one of the last tokens, or the last of a packed sequence. */
static struct sequence sequence_of_query(const struct problem *problem, size_t row, size_t *token)
{
	struct sequence sequence = sequence_at(&problem->packing, problem->keys, row);
	*token = problem->packing.count ? sequence.length - 1 : problem->keys - problem->seq + row;
	return sequence;
}

/* A query becomes 64 times the key of a token that it sees under any mask: that one takes almost all of its weight. */
static float one_hot_query(const struct problem *problem, size_t element)
{
	size_t d = problem->dim, head = element / d % problem->heads, row = element / d / problem->heads;
	size_t own, group = problem->heads / problem->kv_heads;
	struct sequence sequence = sequence_of_query(problem, row, &own);
	struct visible keys = keys_of_query(problem->window, true, sequence.length, own);
	float draw = input_normal(problem->seed, "one-hot", element / d);
	size_t seen = keys.first + (size_t)(fabs((double)draw) * 1e6) % (keys.end - keys.first);
	size_t token = sequence.first + seen;
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
			struct sequence own = sequence_of_token(&problem->packing, problem->keys, token);
			return (float)(8.0 * (double)(token - own.first + 1) / (double)own.length);
		}
		return is(tensor, "gate") ? 8.0f * rising : is(tensor, "residual") ? normal : rising;
	case INPUT_RANDOM:
	case INPUT_KINDS: break;
	}
	return normal;
}

/* The score of head h for the last query of a sequence and that query's own key, which it sees under any mask. */
static double own_score(const struct problem *problem, size_t sequence, size_t h)
{
	size_t H = problem->heads, G = problem->kv_heads, d = problem->dim, rows = problem->seq, keys = problem->keys;
	struct sequence own = sequence_at(&problem->packing, keys, sequence);
	size_t row = problem->packing.count ? sequence : rows - 1, token = own.first + own.length - 1;
	double dot = 0.0;
	for (size_t c = 0; c < d; c++) {
		size_t q = (row * H + h) * d + c, k = (token * G + h * G / H) * d + c;
		dot += (double)element_of(problem, "Q", q, rows * H * d) *
		       (double)element_of(problem, "K", k, keys * G * d);
	}
	return soft_cap(problem->softcap, (double)problem->scale * dot);
}

/* Logits near that score, of packed sequences near the lowest: far above all scores of a query a sink would take all the weight,
 * and nothing could be compared. */
static void fill_sinks(const struct problem *problem, float *values)
{
	for (size_t h = 0; h < problem->heads; h++) {
		double score = own_score(problem, 0, h);
		for (size_t s = 1; s < sequence_count(&problem->packing); s++)
			score = fmin(score, own_score(problem, s, h));
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
