#include "problem/inputs.h"

#include "problem/attention.h"
#include "problem/modifiers.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *input_meaning(enum input_kind kind, uint64_t applicable)
{
	static const char *const scores[INPUT_KINDS] = {
		[INPUT_RANDOM] = "standard normal: scores of a few units",
		[INPUT_LARGE_LOGITS] = "scores to +-10,000; exp overflows from 89 on",
		[INPUT_VERY_NEGATIVE] = "every score below -104, where exp is 0 in fp32",
		[INPUT_CONSTANT] = "every score the same: every key has the same weight",
		[INPUT_ONE_HOT] = "one key has nearly all the weight of its row",
		[INPUT_RAMP] = "scores grow with the key: the maximum changes all the time",
	};
	static const char *const matrices[INPUT_KINDS] = {
		[INPUT_RANDOM] = "standard normal",
		[INPUT_LARGE_LOGITS] = "50 times standard normal",
		[INPUT_VERY_NEGATIVE] = "A about 16, B about -16: all products negative",
		[INPUT_CONSTANT] = "all ones: every element of C is k",
		[INPUT_ONE_HOT] = "one 64 in each row of A, else 0: C is 64 times rows of B",
		[INPUT_RAMP] = "A and B rise from -1 to 1",
	};
	static const char *const numbers[INPUT_KINDS] = {
		[INPUT_RANDOM] = "standard normal",
		[INPUT_LARGE_LOGITS] = "2500 times standard normal",
		[INPUT_VERY_NEGATIVE] = "about -2048",
		[INPUT_CONSTANT] = "8 everywhere",
		[INPUT_ONE_HOT] = "one 4096 in each row, else standard normal",
		[INPUT_RAMP] = "each row rises to 64",
	};
	if (applicable & OPTION_BIT(OPTION_M))
		return matrices[kind];
	return (applicable & OPTION_BIT(OPTION_DIM) ? scores : numbers)[kind];
}

static float normal_at(uint64_t start, size_t index)
{
	const double two_pi = 6.283185307179586;
	double u = unit_interval(random_word(start, 2 * (uint64_t)index));
	double v = unit_interval(random_word(start, 2 * (uint64_t)index + 1));
	double radius = sqrt(-2.0 * log(u));
	return (float)(radius * cos(two_pi * v));
}

float input_normal(uint64_t seed, const char *tensor, size_t index)
{
	return normal_at(stream_start(seed, tensor), index);
}

static void fill_normal(float *values, size_t count, uint64_t start, float factor)
{
	for (size_t i = 0; i < count; i++)
		values[i] = factor * normal_at(start, i);
}

/* Multiplying by a power of two is exact, so the sum has nothing a fused multiply-add could round differently. */
static void fill_shifted(float *values, size_t count, uint64_t start, float sign)
{
	for (size_t i = 0; i < count; i++)
		values[i] = sign * (16.0f + 0.25f * normal_at(start, i));
}

static void fill_constant(float *values, size_t count, float value)
{
	for (size_t i = 0; i < count; i++)
		values[i] = value;
}

/* Row i of each head becomes 64 times the key of a random token t <= i. */
static void fill_one_hot_queries(const struct problem *problem, float *values)
{
	size_t tokens = problem->seq, dim = problem->dim, heads = attention_heads(problem);
	uint64_t keys = stream_start(problem->seed, "K"), choice = stream_start(problem->seed, "one-hot");
	for (size_t head = 0; head < heads; head++)
		for (size_t i = 0; i < tokens; i++) {
			size_t row = head * tokens + i, kv_head = head * attention_kv_heads(problem) / heads;
			size_t hot = kv_head * tokens + (size_t)(random_word(choice, row) % (i + 1));
			for (size_t c = 0; c < dim; c++)
				values[row * dim + c] = 64.0f * normal_at(keys, hot * dim + c);
		}
}

static void fill_rising_keys(const struct problem *problem, float *values, size_t count)
{
	for (size_t t = 0; t < count; t++) {
		size_t token = t / problem->dim % problem->seq;
		values[t] = (float)(8.0 * (double)(token + 1) / (double)problem->seq);
	}
}

static void fill_rising(float *values, size_t count)
{
	for (size_t t = 0; t < count; t++)
		values[t] = (float)(2.0 * (double)t / (double)count - 1.0);
}

/* The score of head h for the last query of a sequence and that query's own key, which it sees under any mask. */
static double own_score(const struct problem *problem, const float *q, const float *k, size_t sequence, size_t h)
{
	size_t N = problem->seq, d = problem->dim, G = problem->kv_heads, group = problem->heads / G;
	bool packed = problem->packing.count > 0;
	size_t batch = packed ? 0 : sequence, token = packed ? problem->packing.ends[sequence] - 1 : N - 1;
	const float *query = q + ((batch * problem->heads + h) * N + token) * d;
	const float *key = k + ((batch * G + h / group) * N + token) * d;
	double dot = 0.0;
	for (size_t c = 0; c < d; c++)
		dot += (double)query[c] * (double)key[c];
	return soft_cap(problem->softcap, (double)problem->scale * dot);
}

/* Logits near that score, of several sequences near the lowest: far above all scores of a query a sink would take all the
 * weight, and nothing could be compared. Zeros without memory, and where heads do not share keys evenly: that is refused. */
static void fill_sinks(const struct problem *problem, float *values, uint64_t start)
{
	size_t per_head = problem->batch * problem->seq * problem->dim;
	float *q = malloc(problem->heads * per_head * sizeof *q),
	      *k = malloc(problem->kv_heads * per_head * sizeof *k);
	bool known = q && k && problem->heads % problem->kv_heads == 0;
	if (known) {
		input_fill_attention(problem, "Q", q);
		input_fill_attention(problem, "K", k);
	}
	for (size_t h = 0; h < problem->heads; h++) {
		double score = known ? own_score(problem, q, k, 0, h) : 0.0;
		for (size_t s = 1; known && s < problem->sequences; s++)
			score = fmin(score, own_score(problem, q, k, s, h));
		values[h] = (float)score + normal_at(start, h);
	}
	free(q);
	free(k);
}

void input_fill_attention(const struct problem *problem, const char *tensor, float *values)
{
	uint64_t start = stream_start(problem->seed, tensor);
	if (strcmp(tensor, "sink") == 0) {
		fill_sinks(problem, values, start);
		return;
	}
	bool of_keys = strcmp(tensor, "K") == 0 || strcmp(tensor, "V") == 0;
	size_t rows = (of_keys ? attention_kv_heads(problem) : attention_heads(problem)) * problem->seq;
	size_t count = rows * problem->dim;
	bool is_query = strcmp(tensor, "Q") == 0, is_key = strcmp(tensor, "K") == 0,
	     is_value = strcmp(tensor, "V") == 0;
	bool makes_scores = is_query || is_key;

	if (problem->input == INPUT_LARGE_LOGITS && makes_scores)
		fill_normal(values, count, start, 50.0f);
	else if (problem->input == INPUT_VERY_NEGATIVE && makes_scores)
		fill_shifted(values, count, start, is_query ? 1.0f : -1.0f);
	else if (problem->input == INPUT_CONSTANT && makes_scores)
		fill_constant(values, count, 1.0f);
	else if (problem->input == INPUT_ONE_HOT && is_query)
		fill_one_hot_queries(problem, values);
	else if (problem->input == INPUT_RAMP && is_query)
		fill_constant(values, count, 1.0f);
	else if (problem->input == INPUT_RAMP && is_key)
		fill_rising_keys(problem, values, count);
	else if (problem->input == INPUT_RAMP && is_value)
		fill_rising(values, count);
	else
		fill_normal(values, count, start, 1.0f);
}

static void fill_scores(const struct problem *problem, float *values, uint64_t start)
{
	size_t rows = problem->rows, cols = problem->cols, count = rows * cols;
	uint64_t choice = stream_start(problem->seed, "one-hot");
	switch (problem->input) {
	case INPUT_LARGE_LOGITS: fill_normal(values, count, start, 2500.0f); return;
	case INPUT_VERY_NEGATIVE:
		for (size_t t = 0; t < count; t++)
			values[t] = -(2048.0f + 4.0f * normal_at(start, t));
		return;
	case INPUT_CONSTANT: fill_constant(values, count, 8.0f); return;
	case INPUT_ONE_HOT:
		fill_normal(values, count, start, 1.0f);
		for (size_t i = 0; i < rows; i++)
			values[i * cols + random_word(choice, i) % cols] = 4096.0f;
		return;
	case INPUT_RAMP:
		for (size_t t = 0; t < count; t++)
			values[t] = (float)(64.0 * (double)(t % cols + 1) / (double)cols);
		return;
	case INPUT_RANDOM:
	case INPUT_KINDS: break;
	}
	fill_normal(values, count, start, 1.0f);
}

void input_fill_softmax(const struct problem *problem, const char *tensor, float *values)
{
	uint64_t start = stream_start(problem->seed, tensor);
	bool is_values = strcmp(tensor, "V") == 0;
	if (!is_values)
		fill_scores(problem, values, start);
	else if (problem->input == INPUT_RAMP)
		fill_rising(values, problem->cols * problem->dim);
	else
		fill_normal(values, problem->cols * problem->dim, start, 1.0f);
}

/* Row i is 64 times a unit vector: row i of the product is 64 times a random row of B. */
static void fill_one_hot_rows(const struct problem *problem, float *values)
{
	uint64_t choice = stream_start(problem->seed, "one-hot");
	fill_constant(values, problem->m * problem->k, 0.0f);
	for (size_t i = 0; i < problem->m; i++)
		values[i * problem->k + random_word(choice, i) % problem->k] = 64.0f;
}

void input_fill_matmul(const struct problem *problem, const char *tensor, float *values)
{
	bool is_left = strcmp(tensor, "A") == 0;
	size_t count = is_left ? problem->m * problem->k : problem->k * problem->n;
	uint64_t start = stream_start(problem->seed, tensor);
	switch (problem->input) {
	case INPUT_LARGE_LOGITS: fill_normal(values, count, start, 50.0f); return;
	case INPUT_VERY_NEGATIVE: fill_shifted(values, count, start, is_left ? 1.0f : -1.0f); return;
	case INPUT_CONSTANT: fill_constant(values, count, 1.0f); return;
	case INPUT_RAMP: fill_rising(values, count); return;
	case INPUT_ONE_HOT:
		if (is_left)
			fill_one_hot_rows(problem, values);
		else
			fill_normal(values, count, start, 1.0f);
		return;
	case INPUT_RANDOM:
	case INPUT_KINDS: break;
	}
	fill_normal(values, count, start, 1.0f);
}
