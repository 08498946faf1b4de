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

/* Wavefronts of a load of 16 bytes a lane, and of the store of a weight. */
struct costs {
	uint64_t Q, K, P, V, weight;
};

/*
 * A warp, at each visit of a tile of keys: a lane loads 8 rows of Q and Bc / 8 keys of K for each four columns of D, and 8
 * rows of P~ and 4 keys of V, D / 32 times, for each four keys; it stores its 8 x Bc / 8 weights. A tile is stored once, as
 * whole wavefronts of 32 words: K and V at each visit, Q once per block. A load takes two passes of a wavefront at least,
 * K and V four where nobody shares them; what is more are conflicts.
 */
static struct closed_forms forms_of(
	const struct problem *problem, size_t shared_bytes, struct costs costs, struct costs least)
{
	struct pipeline_shape shape = pipeline_shape((int)problem->dim);
	struct closed_forms forms = streamed_forms(problem, shape.Br, shape.Bc, true);
	uint64_t D = 32 * ceil_div(problem->dim, 32), Br = (uint64_t)shape.Br, Bc = (uint64_t)shape.Bc;
	uint64_t warps = (uint64_t)shape.threads / 32;
	uint64_t visits = attention_heads(problem) * attention_visits(problem, shape.Br, shape.Bc, true).tiles;
	uint64_t loads[] = {8 * D / 4, Bc / 8 * D / 4, 8 * Bc / 4, Bc * D / 32, 8 * Bc / 8};
	uint64_t each[] = {costs.Q, costs.K, costs.P, costs.V, costs.weight};
	uint64_t ideal[] = {least.Q, least.K, least.P, least.V, least.weight};
	forms.wavefronts = visits * 2 * Bc * D / 32 + forms.blocks * Br * D / 32;
	for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
		forms.wavefronts += visits * warps * loads[i] * each[i];
		forms.conflicts += visits * warps * loads[i] * (each[i] - ideal[i]);
	}
	forms.shared_bytes = shared_bytes;
	forms.tells_wavefronts = true;
	return forms;
}

/* Two passes, one wavefront each. */
static const struct costs paired = {2, 2, 2, 2, 1};

/* Rows of P~ are 4 banks apart at D = 64, where 8 keys of 4 rows are stored at once: two wavefronts. */
static uint64_t of_padded_weight(const struct problem *problem)
{
	return problem->dim > 32 && problem->dim <= 64 ? 2 : 1;
}

/* Lanes in rows: no pair shares a key, so K and V take four passes. Two rows of Q meet in each pass. */
static struct closed_forms in_flight_forms(const struct problem *problem)
{
	struct costs costs = {4, 4, 2, 4, of_padded_weight(problem)};
	return forms_of(problem, pipeline_padded_bytes((int)problem->dim), costs, (struct costs){2, 4, 2, 4, 1});
}

static struct closed_forms lanes_forms(const struct problem *problem)
{
	struct costs costs = {4, 2, 2, 2, of_padded_weight(problem)};
	return forms_of(problem, pipeline_padded_bytes((int)problem->dim), costs, paired);
}

static struct closed_forms swizzled_forms(const struct problem *problem)
{
	return forms_of(problem, pipeline_swizzled_bytes((int)problem->dim), paired, paired);
}

#define KERNEL(NAME, SUMMARY, LAUNCH, FORMS)                                                                         \
	{                                                                                                            \
		.name = NAME, .summary = SUMMARY, .tensors = attention_tensors, .launch_attention = LAUNCH,          \
		.forms = FORMS, .runs = grid_fits,                                                                   \
	}

static const struct kernel kernels[] = {
	KERNEL("in_flight", "a tile of K, then of V, is on its way at once", launch_in_flight, in_flight_forms),
	KERNEL("lanes", "lanes are numbered so that pairs share an address", launch_lanes, lanes_forms),
	KERNEL("swizzle", "XOR in place of padding: no bank conflicts", launch_swizzle, swizzled_forms),
	KERNEL("async", "the next K and V arrive beside the products", launch_async, swizzled_forms),
	KERNEL("fa2_fp32", "and fewer instructions beside the products", launch_fa2_fp32, swizzled_forms),
};

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"predict what a causal mask changes in this table, then", "--causal"},
	{"what bounds each kernel, ../tools/ceilings show", NULL},
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
