#include "verify/attention.h"

#include "verify/reference.h"

static const double most_products = 0x1p30;

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
	if (sampled && !(expectations->rows = sample_rows(problem->seed, problem->batch * problem->heads,
	                                                  problem->seq, &expectations->row_count)))
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
