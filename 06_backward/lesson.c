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
		{"memory\nat most", UNIT_BYTES, value_memory_bytes},
		{"of it N\u00b2\nmatrices", UNIT_BYTES, value_square_bytes},
		{"FLOP/(N\u00b2d)\na head", UNIT_FIGURES, flop_per_pair},
		{"exp/N\u00b2\na head", UNIT_FIGURES, exponentials_per_pair},
		{"shared floats\na product", UNIT_RATIO, value_shared_floats_per_fma},
	};
	columns_print(
		terminal, result, "Memory, arithmetic, and shared memory asked for a multiplication", false,
		"\nkernel", columns, sizeof columns / sizeof columns[0]);
}
