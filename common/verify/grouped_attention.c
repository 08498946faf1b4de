#include "verify/grouped_attention.h"

#include "verify/reference.h"

#include <stdlib.h>
#include <string.h>

bool heads_are_grouped(const struct problem *problem, struct error *error)
{
	if (problem->heads % problem->kv_heads == 0)
		return true;
	error_set(
		error, EXIT_USAGE, "--kv-heads: expected a divisor of the %zu heads, got %zu", problem->heads,
		problem->kv_heads);
	return false;
}

/* The queries are the last of all tokens. */
static size_t token_of_query(const struct problem *problem, size_t query)
{
	return problem->keys - problem->seq + query;
}

/* heads[h, token, :] = rows[row, h, :], zeros where a token has no row: the reference wants heads as arrays of their own, and
 * a query for each key. The caller frees. */
static float *as_heads(const struct problem *problem, const float *rows, bool queries, size_t count)
{
	size_t d = problem->dim, tokens = problem->keys, row_count = queries ? problem->seq : tokens;
	float *heads = calloc(count * tokens * d, sizeof *heads);
	for (size_t h = 0; heads && h < count; h++)
		for (size_t row = 0; row < row_count; row++) {
			size_t token = queries ? token_of_query(problem, row) : row;
			memcpy(heads + (h * tokens + token) * d, rows + (row * count + h) * d, d * sizeof *heads);
		}
	return heads;
}

static bool compute_o(
	const struct problem *problem, const float *const heads[3], const size_t *wanted, size_t count,
	struct attention_reference *reference)
{
	const struct attention_inputs attention = {
		.batch = 1,
		.heads = problem->heads,
		.seq = problem->keys,
		.dim = problem->dim,
		.causal = problem->causal,
		.scale = problem->scale,
		.q = heads[0],
		.k = heads[1],
		.v = heads[2],
		.modifiers = modifiers_of_problem(problem, NULL),
		.random_walk = problem->input == INPUT_RANDOM && !problem->load,
	};
	return heads[0] && heads[1] && heads[2] && wanted &&
	       attention_reference_compute(&attention, wanted, count, reference);
}

bool grouped_attention_expect(
	const struct problem *problem, const struct named_values *inputs, size_t *rows, size_t count,
	struct expectations *expectations)
{
	size_t M = problem->keys, H = problem->heads;
	size_t *wanted = calloc(count, sizeof *wanted); /* of [H, M]: what the reference calls row (i, h) of [N, H] */
	for (size_t r = 0; wanted && r < count; r++) {
		size_t row = rows ? rows[r] : r;
		wanted[r] = row % H * M + token_of_query(problem, row / H);
	}
	float *heads[3] = {
		as_heads(problem, find_values(inputs, "Q"), true, H),
		as_heads(problem, find_values(inputs, "K"), false, problem->kv_heads),
		as_heads(problem, find_values(inputs, "V"), false, problem->kv_heads)};
	struct attention_reference reference;
	bool computed = compute_o(problem, (const float *const *)heads, wanted, count, &reference);
	for (size_t i = 0; i < 3; i++)
		free(heads[i]);
	free(wanted);
	if (!computed)
		return false;
	free(reference.lse);
	free(reference.lse_tolerance);
	expectations_own(expectations, reference.o);
	expectations_own(expectations, reference.o_tolerance);
	expectations_own(expectations, reference.o_row);
	expectations->items[expectations->count++] = (struct expectation){
		.tensor = "O",
		.row_count = count,
		.row_length = problem->dim,
		.rows = rows,
		.values = reference.o,
		.tolerances = reference.o_tolerance,
		.row_bounds = problem->load ? NULL : reference.o_row,
	};
	return true;
}
