/* Chapter 10: what the harness has to know about five ways to move the same bytes. */
#include "pipeline.h"

#include "harness.h"

static bool grid_fits(const struct problem *problem, char *reason, size_t size)
{
	bool fits = problem->batch <= PIPELINE_MOST_HEADS && problem->heads <= PIPELINE_MOST_HEADS;
	if (!fits)
		snprintf(
			reason, size, "batch and heads are dimensions of the grid, the limit of each is %d",
			PIPELINE_MOST_HEADS);
	return fits;
}

/* ---- closed forms ---- */

/* Without bank conflicts. */
static struct closed_forms swizzled_forms(const struct problem *problem)
{
	struct pipeline_shape shape = pipeline_shape((int)problem->dim);
	struct closed_forms forms = streamed_forms(problem, shape.Br, shape.Bc, true);
	forms.shared_bytes = pipeline_swizzled_bytes((int)problem->dim);
	forms.tells_conflicts = true;
	return forms;
}

/*
 * With padding, at each visit of a tile of keys, for each warp: a load of Q has two passes, of two rows each, which lie in
 * the same banks: 8 rows, a load for each four columns of D, two conflicts a load. At D = 64 rows of P~ are 4 banks apart
 * where 8 keys are stored at once: one conflict for each of a lane's 8 x Bc / 8 scores.
 */
static struct closed_forms padded_forms(const struct problem *problem)
{
	struct pipeline_shape shape = pipeline_shape((int)problem->dim);
	struct closed_forms forms = swizzled_forms(problem);
	uint64_t D = 32 * ceil_div(problem->dim, 32), of_Q = 2 * 8 * D / 4, of_P = D == 64 ? (uint64_t)shape.Bc : 0;
	uint64_t tiles = attention_heads(problem) * attention_visits(problem, shape.Br, shape.Bc, true).tiles;
	forms.shared_bytes = pipeline_padded_bytes((int)problem->dim);
	forms.conflicts = tiles * (uint64_t)shape.threads / 32 * (of_Q + of_P);
	return forms;
}

#define KERNEL(NAME, SUMMARY, LAUNCH, FORMS)                                                                         \
	{                                                                                                            \
		.name = NAME, .summary = SUMMARY, .tensors = attention_tensors, .launch_attention = LAUNCH,          \
		.forms = FORMS, .runs = grid_fits,                                                                   \
	}

static const struct kernel kernels[] = {
	KERNEL("in_flight", "a tile of K, then of V, is on its way at once", launch_in_flight, padded_forms),
	KERNEL("lanes", "lanes are numbered so that pairs share an address", launch_lanes, padded_forms),
	KERNEL("swizzle", "XOR in place of padding: no bank conflicts", launch_swizzle, swizzled_forms),
	KERNEL("async", "the next K and V arrive beside the products", launch_async, swizzled_forms),
	KERNEL("fa2_fp32", "and fewer instructions beside the products", launch_fa2_fp32, swizzled_forms),
};

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"predict what a causal mask changes in this table, then", "--causal"},
	{"tensor cores, cd ../11_tensor_cores && make", NULL},
};

static const struct column ladder[] = {
	{"wavefronts\nper FMA", .metric = METRIC_WAVEFRONTS_PER_FMA},
	{"bank\nconflicts", .metric = METRIC_SHARED_CONFLICTS},
	{"shared bytes\nper block", .metric = METRIC_SHARED_BYTES},
	{"\nrequested", .metric = METRIC_REQUESTED_BYTES},
};

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	if (result->device->gpu)
		columns_print(
			terminal, result, "The ladder: one idea per step, counted", true, "\nkernel", ladder,
			sizeof ladder / sizeof ladder[0]);
}

static const struct chapter chapter = {
	.name = "10_pipeline",
	.program = "pipeline",
	.title = "The same bytes, faster: loads in flight, lanes, banks, copies.",
	.next = next,
	.small = "--seq 4 --dim 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTIONS_COMMON,
	.defaults = {.batch = 1, .heads = 2, .seq = 512, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_expect,
	.sweep = sweep_attention,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
