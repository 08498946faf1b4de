#include "lesson.h"

const struct suggestion lesson_next[] = {
	{"predict what the causal mask saves this time, then", "--causal"},
	{"predict the units at Br = 64, then", "--kernel fa2_row --tile-q 64"},
	{"the gradients, cd ../06_backward && make", NULL},
};

/* Loads of shared memory, of whatever width, that a lane executes for each multiply-add. */
static double shared_loads_per_fma(const struct kernel_result *kernel)
{
	return 1.0 / metric_value(kernel, METRIC_FMA_PER_LOAD);
}

static double wavefronts_over_ideal(const struct kernel_result *kernel)
{
	return metric_value(kernel, METRIC_SHARED_WAVEFRONTS) / metric_value(kernel, METRIC_IDEAL_WAVEFRONTS);
}

static const struct column ladder[] = {
	{"shared loads\nper FMA", .unit = UNIT_RATIO, .value = shared_loads_per_fma},
	{"wavefronts\nover ideal", .unit = UNIT_RATIO, .value = wavefronts_over_ideal},
	{"\nexponentials", .metric = METRIC_EXPONENTIALS},
	{"HBM elements\nrequested", .metric = METRIC_COUNTED_ELEMENTS},
	{"\nblocks", .metric = METRIC_BLOCKS},
};

static const struct column shared[] = {
	{"bytes\nper block", .metric = METRIC_SHARED_BYTES},
	{"warp-level\nloads, all", .metric = METRIC_SHARED_LOADS},
	{"FMA\nper load", .metric = METRIC_FMA_PER_LOAD},
	{"wavefronts\nper FMA", .metric = METRIC_WAVEFRONTS_PER_FMA},
	{"conflicts,\nall", .metric = METRIC_SHARED_CONFLICTS},
};

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	if (!result->device->gpu)
		return;
	columns_print(
		terminal, result, "The ladder: one idea per step, counted", true, "\nkernel", ladder,
		sizeof ladder / sizeof ladder[0]);
	lesson_compare(terminal, result);
	if (result->options->verbose)
		columns_print(
			terminal, result, "Shared memory, as the source says it\n", true, "\nkernel", shared,
			sizeof shared / sizeof shared[0]);
}
