/* Chapter 05: what the harness has to know about FlashAttention-2. */
#include "fa2.h"

#include "harness.h"

#include <string.h>

/* --tile-q and --tile-k, or what fits. */
static struct tile row_tile(const struct problem *problem)
{
	return (struct tile){row_tile_queries(problem), row_tile_keys(problem)};
}

static bool fa2_grid_fits(const struct problem *problem, char *reason, size_t size)
{
	bool fits = problem->batch <= FA2_MOST_HEADS && problem->heads <= FA2_MOST_HEADS;
	if (!fits)
		snprintf(
			reason, size, "batch and heads are the grid's z and y, the limit of each is %d",
			FA2_MOST_HEADS);
	return fits;
}

static bool row_runs(const struct problem *problem, char *reason, size_t size)
{
	return row_threads_fit(problem, FA2_MOST_ROW_THREADS, reason, size) && fa2_grid_fits(problem, reason, size);
}

/* ---- closed forms ---- */

static struct closed_forms row_forms(const struct problem *problem)
{
	struct tile tile = row_tile(problem);
	struct closed_forms forms = streamed_forms(problem, tile.Br, tile.Bc, true);
	forms.shared_bytes = fa_row_shared_bytes((int)problem->dim, tile);
	return forms;
}

static struct closed_forms compiled_forms(const struct problem *problem, struct tile tile, size_t shared_bytes)
{
	struct closed_forms forms = streamed_forms(problem, tile.Br, tile.Bc, true);
	forms.shared_bytes = shared_bytes;
	return forms;
}

static struct closed_forms tile_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return compiled_forms(problem, fa2_warp_tile(d), fa2_tile_shared_bytes(d));
}

static struct closed_forms slab_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return compiled_forms(problem, fa2_warp_tile(d), fa2_slab_shared_bytes(d));
}

static struct closed_forms split_q_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return compiled_forms(problem, fa2_split_q_tile(d), fa2_split_q_shared_bytes(d));
}

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "fa2_row",
		.summary = "chapter 04's row kernel with the loops exchanged",
		.tensors = attention_tensors,
		.launch_attention = launch_fa2_row,
		.forms = row_forms,
		.runs = row_runs,
	},
	{
		.name = "fa2_tile",
		.summary = "one warp per 32 or 16 rows: register tiles, 16-byte reads",
		.tensors = attention_tensors,
		.launch_attention = launch_fa2_tile,
		.forms = tile_forms,
		.runs = fa2_grid_fits,
	},
	{
		.name = "fa2_slab",
		.summary = "P~ through shared memory, rows padded",
		.tensors = attention_tensors,
		.launch_attention = launch_fa2_slab,
		.forms = slab_forms,
		.runs = fa2_grid_fits,
	},
	{
		.name = "fa2_split_q",
		.summary = "four warps split the query tile, share K and V",
		.tensors = attention_tensors,
		.launch_attention = launch_fa2_split_q,
		.forms = split_q_forms,
		.runs = fa2_grid_fits,
	},
};

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
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

/*
 * What naive attention moves over what this kernel requests lies between two ends: naive at its best, its footprint, when a
 * cache forgets nothing, and at its worst, all that its threads request, without a cache.
 */
static void print_finding(
	const struct terminal *terminal, const struct problem *problem, const struct attention_side *side)
{
	double N = (double)problem->seq, d = (double)problem->dim;
	double footprint = 4 * N / d + 4, requested = 4 * N + 5 * N / d + 1;
	terminal_print(
		terminal, STYLE_BOLD, "\nThe footprint of naive attention is %.3g times what %s requests",
		footprint / side->units, side->name);
	fprintf(terminal->out, ",\nand what it requests itself %.3g times as much.\n", requested / side->units);
}

static void print_title(const struct terminal *terminal, const struct run_result *result, bool counted)
{
	const struct problem *problem = &result->problem;
	const struct gpu *gpu = result->device->gpu;
	char floor[32];
	terminal_print(terminal, STYLE_BOLD, "\nFA1 beside FA2");
	if (!result->options->verbose) {
		fprintf(terminal->out, " (fa1_paper at the tile of fa2_row; %s)\n",
		        counted ? "* counted, the rest formulas" : "formulas");
		return;
	}
	fprintf(terminal->out,
	        ", all heads, on an %s with %d SMs.\n%s numbers come from closed\n"
	        "forms, fa1_paper (chapter 04) at the tile of fa2_row. Published tiles: FA1\n"
	        "Bc = 256 at d = 64, FA2 Br = 128. A full GPU: B·H = %zu; naive's floor: %s.\n\n",
	        gpu->title, gpu->sms, counted ? "* was counted, the error measured; all other" : "All",
	        attention_heads_of_full(problem, gpu),
	        format_milliseconds(attention_naive_floor_ms(problem, gpu), floor));
}

/* FA1 beside FA2, in short without --verbose. */
static void print_compared(const struct terminal *terminal, const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	const struct gpu *gpu = result->device->gpu;
	struct tile row = row_tile(problem), split_q = fa2_split_q_tile((int)problem->dim);
	int keys = fa2_row_keys_at_once((int)problem->dim);
	struct attention_side sides[TABLE_MAX_COLUMNS - 1] = {side_of_fa1(problem, gpu, row.Br, row.Bc)};
	size_t count = 1;
	for (size_t i = 0; i < result->kernel_count && count < TABLE_MAX_COLUMNS - 1; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		const char *name = kernel->kernel->name;
		if (!kernel->verified)
			continue;
		if (strcmp(name, "fa2_row") == 0)
			sides[count++] = side_of_fa2(kernel, gpu, row.Br, row.Bc, keys);
		else if (strcmp(name, "fa2_split_q") == 0)
			sides[count++] = side_of_fa2(kernel, gpu, split_q.Br, split_q.Bc, split_q.Bc);
	}
	if (count == 1)
		return;
	print_title(terminal, result, sides[1].counted);
	attention_sides_print(terminal, problem, sides, count, result->options->verbose);
	print_finding(terminal, problem, &sides[count - 1]);
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	if (!result->device->gpu)
		return;
	columns_print(
		terminal, result, "The ladder: one idea per step, counted", true, "\nkernel", ladder,
		sizeof ladder / sizeof ladder[0]);
	print_compared(terminal, result);
	if (result->options->verbose)
		columns_print(
			terminal, result, "Shared memory, as the source says it\n", true, "\nkernel", shared,
			sizeof shared / sizeof shared[0]);
}

static const struct chapter chapter = {
	.name = "05_fa2",
	.program = "fa2",
	.title = "FlashAttention-2: swap the loops.",
	.next = next,
	.small = "--seq 4 --dim 2 --tile-q 2 --tile-k 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K) | OPTIONS_COMMON,
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
