/* Chapter 02: what the harness has to know about the three softmax kernels. */
#include "lesson.h"
#include "online_softmax.h"

#include "harness.h"

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

/* x so many times and y once; with a perfect cache, whatever the number of passes, x once. m and l once. */
static struct closed_forms forms(
	const struct problem *problem, uint64_t passes, const char *formula, double flop, double exponentials)
{
	uint64_t RC = (uint64_t)problem->rows * problem->cols;
	return (struct closed_forms){
		.models = {{MODEL_REQUESTED, passes * RC, RC, formula}, {MODEL_FOOTPRINT, RC, RC, "2RC"}},
		.statistics = 2 * problem->rows,
		.blocks = problem->rows,
		.flop = flop * (double)RC,
		.exponentials = exponentials * (double)RC,
	};
}

/* A score costs a maximum, a difference and a sum; then a difference and a quotient. */
static struct closed_forms three_pass_forms(const struct problem *problem)
{
	return forms(problem, 3, "3RC + RC", 5.0, 2.0);
}

/*
 * A merge: a maximum, two differences, two products, a sum; then a difference and a quotient. Two exponentials in the
 * merge of each score, one for its weight. The merges of lanes, warps and blocks come on top.
 */
static struct closed_forms online_forms(const struct problem *problem)
{
	return forms(problem, 2, "2RC + RC", 8.0, 3.0);
}

/* A merge and a difference; then a product and a sum for each column of V. x once; each row asks for all of V. */
static struct closed_forms dot_forms(const struct problem *problem)
{
	uint64_t RC = (uint64_t)problem->rows * problem->cols, d = problem->dim;
	struct closed_forms of = forms(problem, 1, "", 7.0 + 2.0 * (double)d, 3.0);
	of.models[0] = (struct model){MODEL_REQUESTED, RC + RC * d, problem->rows * d, "RC + RCd + Rd"};
	of.models[1] = (struct model){MODEL_FOOTPRINT, RC + problem->cols * d, problem->rows * d, "RC + Cd + Rd"};
	of.shared_bytes = softmax_dot_shared_bytes((int)problem->cols, (int)problem->block);
	return of;
}

static const struct kernel kernels[] = {
	{
		.name = "softmax_three_pass",
		.summary = "maximum, sum, quotient: the definition",
		.tensors = softmax_tensors,
		.launch = three_pass,
		.forms = three_pass_forms,
	},
	{
		.name = "softmax_online",
		.summary = "maximum and sum in one pass",
		.tensors = softmax_tensors,
		.launch = online,
		.forms = online_forms,
	},
	{
		.name = "softmax_dot",
		.summary = "softmax(x) V in one pass: FlashAttention for one row",
		.tensors = softmax_dot_tensors,
		.launch = dot,
		.forms = dot_forms,
	},
};

static const struct chapter chapter = {
	.name = "02_online_softmax",
	.program = "online_softmax",
	.title = "The online softmax: a maximum that may still grow.",
	.next = lesson_next,
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
	.expect = softmax_expect,
	.sweep = sweep_softmax,
	.examine = lesson_trace,
	.add_json = lesson_add_json,
	.explain = lesson_explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
