#include "lesson.h"

/* Loads of shared memory, of whatever width, that a lane executes for each multiply-add. */
static double shared_reads_per_fma(const struct kernel_result *kernel)
{
	return 1.0 / metric_value(kernel, METRIC_FMA_PER_LOAD);
}

static const struct column steps[] = {
	{"bytes\nrequested", .metric = METRIC_REQUESTED_BYTES},
	{"sectors\na request", .metric = METRIC_SECTORS_PER_REQUEST},
	{"wavefronts\na request", .metric = METRIC_WAVEFRONTS_PER_REQUEST},
	{"\nideal", .metric = METRIC_IDEAL_PER_REQUEST},
	{"shared\nreads\nan FMA", .unit = UNIT_RATIO, .value = shared_reads_per_fma},
	{"floor", .metric = METRIC_FLOOR_MS},
	{"time\nthis CPU", .metric = METRIC_MEDIAN_MS},
};

static const struct column stores[] = {
	{"stores", .metric = METRIC_SHARED_STORES},
	{"wavefronts", .metric = METRIC_STORE_WAVEFRONTS},
};

/* A GPU counts nothing: no empty columns. */
static const struct column times[] = {
	{"floor", .metric = METRIC_FLOOR_MS},
	{"time", .metric = METRIC_MEDIAN_MS},
	{"TFLOP/s", .metric = METRIC_TERAFLOPS},
};

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	if (result->device->simulated) {
		columns_print(
			terminal, result, "Each step, one thing changed", false, "matmul_", steps,
			sizeof steps / sizeof steps[0]);
		columns_print(
			terminal, result, "Warp-level stores to shared memory", true, "matmul_", stores,
			sizeof stores / sizeof stores[0]);
	} else {
		columns_print(
			terminal, result, "Each step, one thing changed", false, "matmul_", times,
			sizeof times / sizeof times[0]);
	}
	peer_print(terminal, result);
}
