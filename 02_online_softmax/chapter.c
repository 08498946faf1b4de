/* Chapter 02: what the harness has to know about the three softmax kernels, and the trace of a row. */
#include "online_softmax.h"

#include "harness.h"
#include "scores.h"
#include "trace.h"

#include <string.h>

static struct softmax arguments(const struct problem *problem, const struct device_memory *memory)
{
	return (struct softmax){
		.x = device_find(memory, "x"),
		.V = device_find(memory, "V"),
		.y = device_find(memory, "y"),
		.m = device_find(memory, "m"),
		.l = device_find(memory, "l"),
		.rows = (int)problem->rows,
		.cols = (int)problem->cols,
		.dim = (int)problem->dim,
		.block = (int)problem->block,
	};
}

static cudaError_t three_pass(const struct problem *problem, const struct device_memory *memory)
{
	return launch_softmax_three_pass(arguments(problem, memory));
}

static cudaError_t online(const struct problem *problem, const struct device_memory *memory)
{
	return launch_softmax_online(arguments(problem, memory));
}

static cudaError_t dot(const struct problem *problem, const struct device_memory *memory)
{
	return launch_softmax_dot(arguments(problem, memory));
}

static bool dot_runs(const struct problem *problem, const struct gpu *gpu, char *reason, size_t size)
{
	size_t needed = softmax_dot_shared_bytes((int)problem->cols, (int)problem->block);
	if (!gpu || needed <= gpu->shared_per_block)
		return true;
	char a[32], b[32];
	snprintf(
		reason, size, "--block %zu needs %s bytes of shared memory, a block on an %s has %s", problem->block,
		format_count(needed, a), gpu->title, format_count(gpu->shared_per_block, b));
	return false;
}

static uint64_t scores(const struct problem *problem)
{
	return (uint64_t)problem->rows * problem->cols;
}

/* Elements: passes over x, and y once. With a perfect cache, whatever the number of passes, x once. */
static size_t three_pass_models(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t RC = scores(problem);
	models[0] = (struct model){MODEL_REQUESTED, 3 * RC, RC, "3RC + RC"};
	models[1] = (struct model){MODEL_FOOTPRINT, RC, RC, "2RC"};
	return 2;
}

static size_t online_models(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t RC = scores(problem);
	models[0] = (struct model){MODEL_REQUESTED, 2 * RC, RC, "2RC + RC"};
	models[1] = (struct model){MODEL_FOOTPRINT, RC, RC, "2RC"};
	return 2;
}

/* x once; each row asks for all of V. */
static size_t dot_models(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t RC = scores(problem), Rd = (uint64_t)problem->rows * problem->dim;
	uint64_t Cd = (uint64_t)problem->cols * problem->dim;
	models[0] = (struct model){MODEL_REQUESTED, RC + RC * problem->dim, Rd, "RC + RCd + Rd"};
	models[1] = (struct model){MODEL_FOOTPRINT, RC + Cd, Rd, "RC + Cd + Rd"};
	return 2;
}

/* A block a row. */
static uint64_t blocks(const struct problem *problem)
{
	return problem->rows;
}

/* A score costs a maximum, a difference and a sum; then a difference and a quotient. */
static double three_pass_flop(const struct problem *problem)
{
	return 5.0 * (double)scores(problem);
}

/* A merge: a maximum, two differences, two products, a sum; then a difference and a quotient. */
static double online_flop(const struct problem *problem)
{
	return 8.0 * (double)scores(problem);
}

/* A merge and a difference; then a product and a sum for each column of V. */
static double dot_flop(const struct problem *problem)
{
	return (7.0 + 2.0 * (double)problem->dim) * (double)scores(problem);
}

static double two_exponentials(const struct problem *problem)
{
	return 2.0 * (double)scores(problem);
}

/* Two in the merge of each score, one for its weight. The merges of lanes, warps and blocks come on top. */
static double three_exponentials(const struct problem *problem)
{
	return 3.0 * (double)scores(problem);
}

/* m and l of each row are written, once. */
static uint64_t statistics(const struct problem *problem)
{
	return 2 * problem->rows;
}

/* ---- the chapter ---- */

static int
expect(const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
       struct error *error)
{
	if (scores_row(problem) >= problem->rows)
		return error_set(
			error, EXIT_USAGE, "--row: expected a whole number from 0 to %zu, got '%zu'",
			problem->rows - 1, problem->row);
	return softmax_expect(problem, inputs, expectations, error);
}

/* Elements of x that all threads together asked for. */
static double reads_of_x(const struct counts *counts)
{
	double bytes = 0.0;
	for (size_t t = 0; t < counts->total.tensor_count; t++)
		if (strcmp(counts->total.tensors[t].name, "x") == 0)
			bytes += (double)counts->total.tensors[t].requested.read_bytes;
	return bytes / sizeof(float);
}

static void print_passes(const struct terminal *terminal, const struct run_result *result)
{
	struct table table = table_new("lrrr");
	double all = (double)scores(&result->problem);
	terminal_print(terminal, STYLE_BOLD, "\nWhat each kernel asks for\n");
	table_row(&table, STYLE_DIM, "an element of x|is read|exponentials|HBM footprint of all");
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct counts *counts = &result->kernels[i].counts;
		const struct traffic *footprint = &counts->total.footprint;
		char bytes[32];
		if (counts->counted)
			table_row(
				&table, STYLE_PLAIN, "%s|%.2f times|%.2f|%s", result->kernels[i].kernel->name,
				reads_of_x(counts) / all, (double)counts->exponentials / all,
				format_bytes((double)(footprint->read_bytes + footprint->write_bytes), bytes));
	}
	table_print(&table, terminal);
}

static void explain(const struct terminal *terminal, const struct run_result *result)
{
	if (result->findings)
		trace_print(terminal, result);
	else if (result->kernels[0].counts.counted)
		print_passes(terminal, result);
}

static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	problem->cols = (size_t)256 << step;
	return problem->cols <= (simulated ? 4096 : 65536);
}

static const struct kernel kernels[] = {
	{
		.name = "softmax_three_pass",
		.summary = "maximum, sum, quotient: the definition",
		.tensors =
			{{"x", "RC", TENSOR_INPUT, false},
                         {"y", "RC", TENSOR_OUTPUT, false},
                         {"m", "R", TENSOR_OUTPUT, true},
                         {"l", "R", TENSOR_OUTPUT, true}},
		.launch = three_pass,
		.models = three_pass_models,
		.statistics = statistics,
		.blocks = blocks,
		.flop = three_pass_flop,
		.exponentials = two_exponentials,
	},
	{
		.name = "softmax_online",
		.summary = "maximum and sum in one pass",
		.tensors =
			{{"x", "RC", TENSOR_INPUT, false},
                         {"y", "RC", TENSOR_OUTPUT, false},
                         {"m", "R", TENSOR_OUTPUT, true},
                         {"l", "R", TENSOR_OUTPUT, true}},
		.launch = online,
		.models = online_models,
		.statistics = statistics,
		.blocks = blocks,
		.flop = online_flop,
		.exponentials = three_exponentials,
	},
	{
		.name = "softmax_dot",
		.summary = "softmax(x) V in one pass: FlashAttention for one row",
		.tensors =
			{{"x", "RC", TENSOR_INPUT, false},
                         {"V", "Cd", TENSOR_INPUT, false},
                         {"y", "Rd", TENSOR_OUTPUT, false},
                         {"m", "R", TENSOR_OUTPUT, true},
                         {"l", "R", TENSOR_OUTPUT, true}},
		.launch = dot,
		.models = dot_models,
		.statistics = statistics,
		.blocks = blocks,
		.flop = dot_flop,
		.exponentials = three_exponentials,
		.runs = dot_runs,
	},
};

static const struct chapter chapter = {
	.name = "02_online_softmax",
	.program = "online_softmax",
	.title = "The online softmax: a maximum that may still grow.",
	.next = "by hand, ./online_softmax --trace --values 1,2,3,6,2,1 --block 3",
	.next_after_trace = "--trace --load ../tests/data/real_qkv --row 1023 --block 64: real scores",
	.small = "--trace --values 1,2,3,6,2,1 --block 3",
	.options = OPTION_BIT(OPTION_ROWS) | OPTION_BIT(OPTION_COLS) | OPTION_BIT(OPTION_BLOCK) |
                   OPTION_BIT(OPTION_VALUES) | OPTION_BIT(OPTION_ROW) | OPTION_BIT(OPTION_TRACE) |
                   OPTION_BIT(OPTION_DIM) | OPTIONS_COMMON,
	.defaults = {.rows = 64, .cols = 4096, .block = 1024, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.may_be_minus_infinity = "x",
	.provide = scores_provide,
	.fill = input_fill_softmax,
	.expect = expect,
	.sweep = sweep,
	.examine = trace_row,
	.add_json = trace_add_json,
	.explain = explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
