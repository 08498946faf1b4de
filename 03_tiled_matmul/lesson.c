#include "lesson.h"

const struct suggestion lesson_next[] = {
	{"predict the cost of ragged tiles,", "--m 257 --n 257 --k 257"},
	{"predict what tiles save of a single row,", "--m 1"},
	{"attention without S, cd ../04_fa1 && make", NULL},
};

/* Loads of shared memory, of whatever width, that a lane executes for each multiply-add. */
static double shared_reads_per_fma(const struct kernel_result *kernel)
{
	return 1.0 / metric_value(kernel, METRIC_FMA_PER_LOAD);
}

static const struct column steps[] = {
	{"bytes\nrequested", .metric = METRIC_REQUESTED_BYTES},
	{"sectors\n/request", .metric = METRIC_SECTORS_PER_REQUEST},
	{"wavefronts\n/load", .metric = METRIC_WAVEFRONTS_PER_LOAD},
	{"\n/store", .metric = METRIC_WAVEFRONTS_PER_STORE},
	{"\nideal", .metric = METRIC_IDEAL_PER_REQUEST},
	{"loads\n/FMA", .unit = UNIT_RATIO, .value = shared_reads_per_fma},
	{"busy\nSMs", .metric = METRIC_BUSY_SMS},
	{"time\nthis CPU", .metric = METRIC_MEDIAN_MS},
};

/* A GPU counts nothing: no empty columns. */
static const struct column times[] = {
	{"floor", .metric = METRIC_FLOOR_MS},
	{"time", .metric = METRIC_MEDIAN_MS},
	{"TFLOP/s", .metric = METRIC_TERAFLOPS},
};

/* Of tiles with few rows or columns most lanes have nothing to store. */
static const double conflicts_to_see = 8.0;

/* What was counted, of the kernels that were run. */
static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *naive = result_counted(result, "matmul_naive"),
				   *tiled = result_counted(result, "matmul_tiled"),
				   *registers = result_counted(result, "matmul_registers");
	double a_store = tiled ? metric_value(tiled, METRIC_WAVEFRONTS_PER_STORE) : 0.0;
	if (naive && tiled && registers) {
		double first = metric_value(naive, METRIC_REQUESTED_BYTES);
		terminal_print(
			terminal, STYLE_BOLD, "\nTiles cut the bytes requested %.3g-fold, register tiles %.3g-fold",
			first / metric_value(tiled, METRIC_REQUESTED_BYTES),
			first / metric_value(registers, METRIC_REQUESTED_BYTES));
		fprintf(terminal->out, ".\n");
	}
	if (a_store > conflicts_to_see)
		fprintf(terminal->out,
		        "Half of the stores of matmul_tiled put a column into A's tile: 32 lanes in one\n"
		        "bank, 32 wavefronts. Those of B take one: %.3g on average. With padding all do.\n",
		        a_store);
}

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	if (result->device->simulated) {
		columns_print(
			terminal, result, "Each step: global memory, then shared memory", false, "matmul_", steps,
			sizeof steps / sizeof steps[0]);
		print_finding(terminal, result);
	} else {
		columns_print(
			terminal, result, "Each step and its time", false, "matmul_", times,
			sizeof times / sizeof times[0]);
	}
	peer_print(terminal, result);
}
