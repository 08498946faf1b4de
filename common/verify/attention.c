#include "verify/attention.h"

#include "verify/reference.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLED_ROWS = 64 };
static const double most_products = 0x1p30;

const struct expectation *expectations_find(const struct expectations *expectations, const char *tensor)
{
	for (size_t i = 0; i < expectations->count; i++)
		if (strcmp(expectations->items[i].tensor, tensor) == 0)
			return &expectations->items[i];
	return NULL;
}

void expectations_free(struct expectations *expectations)
{
	for (size_t i = 0; i < MAX_EXPECTATIONS; i++)
		free(expectations->owned[i]);
	free(expectations->rows);
	*expectations = (struct expectations){0};
}

static const float *find_values(const struct named_values *inputs, const char *name)
{
	for (; inputs->name; inputs++)
		if (strcmp(inputs->name, name) == 0)
			return inputs->values;
	return NULL;
}

/* One row from each of SAMPLED_ROWS equal stretches of a head; the first stretch gives row 0, the last row N-1. */
static size_t *sample_rows(const struct problem *problem, size_t *count)
{
	size_t heads = problem->batch * problem->heads, n = problem->seq;
	size_t *rows = calloc(heads * SAMPLED_ROWS, sizeof *rows);
	if (!rows)
		return NULL;
	uint64_t state = problem->seed;
	*count = 0;
	for (size_t head = 0; head < heads; head++)
		for (size_t s = 0; s < SAMPLED_ROWS; s++) {
			size_t first = s * n / SAMPLED_ROWS, end = (s + 1) * n / SAMPLED_ROWS;
			state = state * UINT64_C(6364136223846793005) +
			        UINT64_C(1442695040888963407); /* Knuth's LCG */
			size_t row = first + (size_t)(state >> 33) % (end - first);
			if (s == 0)
				row = 0;
			if (s == SAMPLED_ROWS - 1)
				row = n - 1;
			rows[(*count)++] = head * n + row;
		}
	return rows;
}

int attention_expect(const struct problem *problem, const struct named_values *inputs,
                     struct expectations *expectations, struct error *error)
{
	struct attention_inputs attention = {
		.batch = problem->batch,
		.heads = problem->heads,
		.seq = problem->seq,
		.dim = problem->dim,
		.causal = problem->causal,
		.scale = problem->scale,
		.q = find_values(inputs, "Q"),
		.k = find_values(inputs, "K"),
		.v = find_values(inputs, "V"),
	};
	*expectations = (struct expectations){.all_rows = problem->batch * problem->heads * problem->seq};
	expectations->row_count = expectations->all_rows;

	double products = (double)expectations->all_rows * (double)problem->seq * (double)problem->dim;
	bool sampled = products > most_products && problem->seq > SAMPLED_ROWS;
	if (sampled && !(expectations->rows = sample_rows(problem, &expectations->row_count)))
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the rows to check");

	struct attention_reference reference;
	if (!attention_reference_compute(&attention, expectations->rows, expectations->row_count, &reference)) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
	}
	struct tolerance_terms terms = {
		.seq = problem->seq,
		.dim = problem->dim,
		.score_bound = reference.score_bound,
		.sampled_random = sampled && problem->input == INPUT_RANDOM && !problem->load,
	};
	expectations->items[0] = (struct expectation){
		.tensor = "O",
		.row_count = expectations->row_count,
		.row_length = problem->dim,
		.rows = expectations->rows,
		.values = reference.o,
		.tolerance = tolerance_of_output(&terms, reference.value_bound),
	};
	expectations->items[1] = (struct expectation){
		.tensor = "LSE",
		.row_count = expectations->row_count,
		.row_length = 1,
		.rows = expectations->rows,
		.values = reference.lse,
		.tolerance = tolerance_of_logsumexp(&terms),
	};
	expectations->count = 2;
	expectations->owned[0] = reference.o;
	expectations->owned[1] = reference.lse;
	return 0;
}
