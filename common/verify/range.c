#include "verify/range.h"

#include <float.h>
#include <math.h>

/* 0 where the kernel has no such input. */
static double longest_row(
	const struct tensor *tensors, const struct problem *problem, const struct named_values *inputs,
	const char *name)
{
	const struct tensor *tensor = tensor_find(tensors, name);
	const float *values = find_values(inputs, name);
	size_t shape[MAX_RANK];
	double longest = 0.0;
	if (!tensor || !values)
		return 0.0;
	size_t rank = tensor_shape(problem, tensor, shape), length = shape[rank - 1];
	size_t rows = tensor_elements(problem, tensor) / length;
	for (size_t row = 0; row < rows; row++) {
		double squares = 0.0;
		for (size_t c = 0; c < length; c++)
			squares += (double)values[row * length + c] * (double)values[row * length + c];
		longest = fmax(longest, squares);
	}
	return sqrt(longest);
}

int range_check(
	const struct tensor *tensors, const struct problem *problem, const struct named_values *inputs,
	struct error *error)
{
	const double q = longest_row(tensors, problem, inputs, "Q"), k = longest_row(tensors, problem, inputs, "K"),
		     v = longest_row(tensors, problem, inputs, "V"), d = longest_row(tensors, problem, inputs, "dO");
	const double scale = fabs((double)problem->scale), n = (double)problem->seq, dp = 2.0 * d * v;
	const struct {
		const char *what;
		double bound;
		bool scaled;
	} bounds[] = {
		{"q.k", q * k, false},        {"scale q.k", scale * q * k * 1.4426950408889634, true},
		{"sums of V", n * v, false},  {"dO.v", dp, false},
		{"sums of dO", n * d, false}, {"gradients of Q and K", n * scale * dp * fmax(q, k), true},
	};
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
		if (bounds[i].bound > (double)FLT_MAX)
			return error_set(
				error, EXIT_USAGE,
				"%s may reach %.1e with these inputs: fp32 ends at %.1e, expected smaller ones%s",
				bounds[i].what, bounds[i].bound, (double)FLT_MAX,
				bounds[i].scaled && scale > 1.0 ? " or a smaller --scale" : "");
	return 0;
}
