#include "lesson.h"

/* Loads of shared memory, of whatever width, that a lane executes for each multiply-add. */
static double shared_reads_per_fma(const struct kernel_result *kernel)
{
	return 1.0 / value_fma_per_load(kernel);
}

static const struct column steps[] = {
	{"bytes\nrequested", UNIT_BYTES, value_requested_bytes},
	{"sectors\na request", UNIT_RATIO, value_sectors_per_request},
	{"wavefronts\na request", UNIT_RATIO, value_wavefronts},
	{"\nideal", UNIT_RATIO, value_ideal_wavefronts},
	{"shared\nreads\nan FMA", UNIT_RATIO, shared_reads_per_fma},
	{"floor", UNIT_MILLISECONDS, value_floor_ms},
	{"time\nthis CPU", UNIT_MILLISECONDS, value_time_ms},
};

static const struct column stores[] = {
	{"stores", UNIT_COUNT, value_shared_stores},
	{"wavefronts", UNIT_COUNT, value_store_wavefronts},
};

/* A GPU counts nothing: no empty columns. */
static const struct column times[] = {
	{"floor", UNIT_MILLISECONDS, value_floor_ms},
	{"time", UNIT_MILLISECONDS, value_time_ms},
	{"TFLOP/s", UNIT_FIGURES, value_teraflops},
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
