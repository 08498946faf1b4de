#include "problem/problem.h"

#include "support/number.h"

#include <math.h>

const char *const input_kind_names[INPUT_KINDS] = {
	[INPUT_RANDOM] = "random",     [INPUT_LARGE_LOGITS] = "large-logits", [INPUT_VERY_NEGATIVE] = "very-negative",
	[INPUT_CONSTANT] = "constant", [INPUT_ONE_HOT] = "one-hot",           [INPUT_RAMP] = "ramp",
};

void problem_fill_defaults(struct problem *problem)
{
	if (!problem->scale_given)
		problem->scale = (float)(1.0 / sqrt((double)problem->dim));
	if (!problem->kv_heads)
		problem->kv_heads = problem->heads;
	if (!problem->keys)
		problem->keys = problem->seq;
	if (problem->page)
		problem->pages = ceil_div(problem->seq, problem->page);
	problem->sequences = problem->batch * sequence_count(&problem->packing);
	problem->starts = problem->packing.count + 1;
}

size_t shape_elements(const size_t *shape, size_t rank)
{
	size_t elements = 1;
	for (size_t i = 0; i < rank; i++)
		elements *= shape[i];
	return elements;
}
