#include "problem/problem.h"

#include <math.h>

const char *const input_kind_names[INPUT_KINDS] = {
	[INPUT_RANDOM] = "random",     [INPUT_LARGE_LOGITS] = "large-logits", [INPUT_VERY_NEGATIVE] = "very-negative",
	[INPUT_CONSTANT] = "constant", [INPUT_ONE_HOT] = "one-hot",           [INPUT_RAMP] = "ramp",
};

static const struct {
	char letter;
	size_t offset;
	const char *option;
} dimensions[] = {
	{'B', offsetof(struct problem, batch), "batch"}, {'H', offsetof(struct problem, heads), "heads"},
	{'N', offsetof(struct problem, seq), "seq"},     {'d', offsetof(struct problem, dim), "dim"},
	{'R', offsetof(struct problem, rows), "rows"},   {'C', offsetof(struct problem, cols), "cols"},
	{'m', offsetof(struct problem, m), "m"},         {'n', offsetof(struct problem, n), "n"},
	{'k', offsetof(struct problem, k), "k"},
};

enum { DIMENSIONS = sizeof dimensions / sizeof dimensions[0] };

void problem_settle(struct problem *problem)
{
	if (!problem->scale_given)
		problem->scale = (float)(1.0 / sqrt((double)problem->dim));
}

size_t *problem_dimension(struct problem *problem, char letter)
{
	for (size_t i = 0; i < DIMENSIONS; i++)
		if (dimensions[i].letter == letter)
			return (size_t *)((char *)problem + dimensions[i].offset);
	return NULL;
}

const char *problem_dimension_option(char letter)
{
	for (size_t i = 0; i < DIMENSIONS; i++)
		if (dimensions[i].letter == letter)
			return dimensions[i].option;
	return NULL;
}

size_t problem_shape(const struct problem *problem, const char *letters, size_t shape[MAX_RANK])
{
	struct problem copy = *problem;
	size_t rank = 0;
	for (; letters[rank]; rank++)
		shape[rank] = *problem_dimension(&copy, letters[rank]);
	return rank;
}

size_t shape_elements(const size_t *shape, size_t rank)
{
	size_t elements = 1;
	for (size_t i = 0; i < rank; i++)
		elements *= shape[i];
	return elements;
}
