#include "lesson.h"

/* Elements of shared memory that the lanes of its warps ask for, for each multiplication. */
static double shared_reads_per_fma(const struct kernel_result *kernel)
{
	double lanes = 32.0 * value_shared_loads(kernel);
	return lanes > 0.0 ? lanes / (kernel->forms.flop / 2) : (double)NAN;
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
		columns_print(terminal, result, "Each step, one thing changed", false, "matmul_", steps, 7);
		columns_print(terminal, result, "Warp-level stores to shared memory", true, "matmul_", stores, 2);
	} else {
		columns_print(terminal, result, "Each step, one thing changed", false, "matmul_", times, 3);
	}
	peer_print(terminal, result);
}
