#include "lesson.h"

static double flop_per_pair(const struct kernel_result *kernel)
{
	return kernel->forms.flop / (attention_pairs(kernel->problem) * (double)kernel->problem->dim);
}

static double exponentials_per_pair(const struct kernel_result *kernel)
{
	return kernel->forms.exponentials / attention_pairs(kernel->problem);
}

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	static const struct column columns[] = {
		{"memory\nat most", .metric = METRIC_PEAK_BYTES},
		{"of it N\u00b2\nmatrices", .metric = METRIC_SQUARE_BYTES},
		{"FLOP/(N\u00b2d)\na head", .unit = UNIT_FIGURES, .value = flop_per_pair},
		{"exp/N\u00b2\na head", .unit = UNIT_FIGURES, .value = exponentials_per_pair},
		{"shared floats\na product", .metric = METRIC_SHARED_FLOATS_PER_FMA},
	};
	columns_print(
		terminal, result, "Memory, arithmetic, and shared memory asked for a multiplication", false,
		"\nkernel", columns, sizeof columns / sizeof columns[0]);
}
