#include "verify/attention.h"

#include "problem/attention.h"
#include "verify/gradients.h"
#include "verify/grouped_attention.h"

#include <stdlib.h>

static bool is_sampled(const struct problem *problem)
{
	return rows_are_sampled(attention_pairs(problem) * (double)problem->dim, problem->seq);
}

/* SAMPLED_ROWS of each head, and of packed sequences the first and the last row of each besides: tiles end there. */
static size_t *sample_queries(const struct problem *problem, size_t *count)
{
	size_t heads = attention_heads(problem), N = problem->seq, at = 0;
	size_t *drawn = sample_rows(problem->seed, heads, N, count);
	if (!drawn || !problem->packing.count)
		return drawn;
	size_t *rows = calloc(*count + heads * 2 * problem->packing.count, sizeof *rows);
	for (size_t row = 0, next = 0; rows && row < heads * N; row++) {
		struct sequence sequence = sequence_of_token(&problem->packing, N, row % N);
		bool is_drawn = next < *count && drawn[next] == row, first = row % N == sequence.first;
		next += is_drawn;
		if (is_drawn || first || row % N == sequence.first + sequence.length - 1)
			rows[at++] = row;
	}
	*count = at;
	free(drawn);
	return rows;
}

static struct attention_inputs attention_inputs(const struct problem *problem, const struct named_values *inputs)
{
	return (struct attention_inputs){
		.batch = problem->batch,
		.heads = problem->heads,
		.seq = problem->seq,
		.dim = problem->dim,
		.causal = problem->causal,
		.scale = problem->scale,
		.q = find_values(inputs, "Q"),
		.k = find_values(inputs, "K"),
		.v = find_values(inputs, "V"),
		.modifiers = modifiers_of_problem(problem, find_values(inputs, "sink")),
		.random_walk = is_sampled(problem) && problem->input == INPUT_RANDOM && !problem->load,
	};
}

int attention_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	struct attention_inputs attention = attention_inputs(problem, inputs);
	if (problem->kv_heads && !heads_are_grouped(problem, error))
		return error->exit_code;
	*expectations = (struct expectations){.all_rows = attention_rows(problem)};
	expectations->row_count = expectations->all_rows;

	bool sampled = is_sampled(problem);
	if (sampled && !(expectations->rows = sample_queries(problem, &expectations->row_count)))
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the rows to check");

	struct attention_reference reference;
	if (!attention_reference_compute(&attention, expectations->rows, expectations->row_count, &reference)) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
	}
	expectations->items[0] = (struct expectation){
		.tensor = "O",
		.row_count = expectations->row_count,
		.row_length = problem->dim,
		.rows = expectations->rows,
		.values = reference.o,
		.tolerances = reference.o_tolerance,
		.row_bounds = problem->load ? NULL : reference.o_row,
	};
	expectations->items[1] = (struct expectation){
		.tensor = "LSE",
		.row_count = expectations->row_count,
		.row_length = 1,
		.rows = expectations->rows,
		.values = reference.lse,
		.tolerances = reference.lse_tolerance,
	};
	expectations->count = 2;
	expectations_own(expectations, reference.o);
	expectations_own(expectations, reference.o_tolerance);
	expectations_own(expectations, reference.lse);
	expectations_own(expectations, reference.lse_tolerance);
	expectations_own(expectations, reference.o_row);
	return 0;
}

/* Of [B, H, N], in the order of [z, H]. */
static size_t *last_queries(const struct problem *problem)
{
	size_t H = problem->heads, N = problem->seq, packed = problem->packing.count;
	size_t *rows = calloc(problem->sequences * H, sizeof *rows);
	for (size_t i = 0; rows && i < problem->sequences * H; i++)
		rows[i] = packed ? i % H * N + problem->packing.ends[i / H] - 1 : i * N + N - 1;
	return rows;
}

int attention_last_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	struct attention_inputs attention = attention_inputs(problem, inputs);
	struct attention_reference reference;
	size_t count = problem->sequences * problem->heads, *rows = last_queries(problem);
	bool computed = rows && attention_reference_compute(&attention, rows, count, &reference);
	free(rows);
	if (!computed) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference of the last rows");
	}
	free(reference.lse);
	free(reference.lse_tolerance);
	expectations_own(expectations, reference.o);
	expectations_own(expectations, reference.o_tolerance);
	expectations_own(expectations, reference.o_row);
	expectations->items[0].shape = "BHNd";
	expectations->items[expectations->count++] = (struct expectation){
		.tensor = "O",
		.shape = "zHd",
		.row_count = count,
		.row_length = problem->dim,
		.values = reference.o,
		.tolerances = reference.o_tolerance,
		.row_bounds = problem->load ? NULL : reference.o_row,
	};
	return 0;
}

/* The sampled rows of one head, drawn with the seed, as rows of its keys: an own copy. */
static size_t *rows_of_one_head(const struct problem *problem, const struct expectations *expectations, size_t *count)
{
	size_t of_sequence = problem->kv_heads ? problem->kv_heads : problem->heads, N = problem->seq;
	size_t kv_head = (size_t)(problem->seed % (problem->batch * of_sequence));
	size_t head = kv_head * (problem->heads / of_sequence);
	size_t *rows = calloc(expectations->row_count, sizeof *rows);
	*count = 0;
	for (size_t r = 0; rows && r < expectations->row_count; r++)
		if (expectations->rows[r] / N == head)
			rows[(*count)++] = kv_head * N + expectations->rows[r] % N;
	return rows;
}

static void expect_gradient(
	struct expectations *expectations, const char *tensor, struct row_list rows, size_t dim, double *values,
	double *tolerances, double *row_bounds)
{
	expectations_own(expectations, values);
	expectations_own(expectations, tolerances);
	expectations_own(expectations, row_bounds);
	expectations->items[expectations->count++] = (struct expectation){
		.tensor = tensor,
		.row_count = rows.count,
		.row_length = dim,
		.rows = rows.rows,
		.values = values,
		.tolerances = tolerances,
		.row_bounds = expectations->items[0].row_bounds ? row_bounds : NULL, /* as of O */
	};
}

/* Of all heads; where keys are picked out, of the one head whose queries have all been looked at. */
static bool expect_sink_gradient(
	const struct problem *problem, struct expectations *expectations, struct row_list keys,
	struct attention_gradients *gradients)
{
	struct row_list heads = {NULL, problem->heads};
	if (keys.rows) {
		size_t group = problem->heads / (problem->kv_heads ? problem->kv_heads : problem->heads);
		size_t *head = calloc(1, sizeof *head);
		if (!head)
			return false;
		*head = keys.rows[0] / problem->seq * group % problem->heads;
		gradients->dsink[0] = gradients->dsink[*head];
		gradients->dsink_tolerance[0] = gradients->dsink_tolerance[*head];
		expectations_own(expectations, head);
		heads = (struct row_list){head, 1};
	}
	expect_gradient(expectations, "dsink", heads, 1, gradients->dsink, gradients->dsink_tolerance, NULL);
	return true;
}

int attention_gradients_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	if (attention_expect(problem, inputs, expectations, error) != 0)
		return error->exit_code;
	struct attention_inputs attention = attention_inputs(problem, inputs);
	struct attention_gradients gradients;
	struct row_list queries = {expectations->rows, expectations->row_count}, keys = queries;
	size_t *key_rows = NULL;
	if (!queries.rows)
		keys.count = attention_kv_heads(problem) * problem->seq;
	else {
		key_rows = rows_of_one_head(problem, expectations, &keys.count);
		keys.rows = key_rows;
		expectations_own(expectations, key_rows);
	}
	if ((queries.rows && !keys.rows) ||
	    !attention_gradients_compute(&attention, find_values(inputs, "dO"), queries, keys, &gradients)) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference of the gradients");
	}
	expect_gradient(
		expectations, "dQ", queries, problem->dim, gradients.dq, gradients.dq_tolerance, gradients.dq_row);
	expect_gradient(
		expectations, "dK", keys, problem->dim, gradients.dk, gradients.dk_tolerance, gradients.dk_row);
	expect_gradient(
		expectations, "dV", keys, problem->dim, gradients.dv, gradients.dv_tolerance, gradients.dv_row);
	if (queries.rows && keys.count < queries.count)
		expectations->row_count = keys.count;
	if (problem->sink && expect_sink_gradient(problem, expectations, keys, &gradients))
		return 0;
	free(gradients.dsink);
	free(gradients.dsink_tolerance);
	if (problem->sink) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference of the gradients");
	}
	return 0;
}
