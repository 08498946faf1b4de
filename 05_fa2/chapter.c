/* Chapter 05: what the harness has to know about FlashAttention-2. */
#include "fa2.h"
#include "lesson.h"

#include "harness.h"

/* ---- launching ---- */

static struct attention fa2_attention(const struct problem *problem, const struct device_memory *memory)
{
	return (struct attention){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.O = device_find(memory, "O"),
		.LSE = device_find(memory, "LSE"),
		.B = (int)problem->batch,
		.H = (int)problem->heads,
		.N = (int)problem->seq,
		.d = (int)problem->dim,
		.causal = problem->causal,
		.scale = problem->scale,
		.tile = fa2_row_tile(problem),
	};
}

static cudaError_t launch_row(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa2_row(fa2_attention(problem, memory));
}

static cudaError_t launch_tile(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa2_tile(fa2_attention(problem, memory));
}

static cudaError_t launch_slab(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa2_slab(fa2_attention(problem, memory));
}

static cudaError_t launch_exp2(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa2_exp2(fa2_attention(problem, memory));
}

static cudaError_t launch_split_q(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa2_split_q(fa2_attention(problem, memory));
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

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "fa2_row",
		.summary = "chapter 04's row kernel with the loops exchanged",
		.tensors = attention_tensors,
		.launch = launch_row,
		.forms = fa2_row_forms,
		.runs = row_runs,
	},
	{
		.name = "fa2_tile",
		.summary = "one warp per 32 or 16 rows: register tiles, 16-byte reads",
		.tensors = attention_tensors,
		.launch = launch_tile,
		.forms = fa2_tile_forms,
		.runs = fa2_grid_fits,
	},
	{
		.name = "fa2_slab",
		.summary = "P~ through shared memory, rows padded",
		.tensors = attention_tensors,
		.launch = launch_slab,
		.forms = fa2_slab_forms,
		.runs = fa2_grid_fits,
	},
	{
		.name = "fa2_exp2",
		.summary = "scores are powers of 2, the scale is in Q",
		.tensors = attention_tensors,
		.launch = launch_exp2,
		.forms = fa2_slab_forms,
		.runs = fa2_grid_fits,
	},
	{
		.name = "fa2_split_q",
		.summary = "four warps split the query tile, share K and V",
		.tensors = attention_tensors,
		.launch = launch_split_q,
		.forms = fa2_split_q_forms,
		.runs = fa2_grid_fits,
	},
};

static const struct chapter chapter = {
	.name = "05_fa2",
	.program = "fa2",
	.title = "FlashAttention-2: swap the loops.",
	.next = lesson_next,
	.small = "--seq 4 --dim 2 --tile-q 2 --tile-k 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K) | OPTIONS_COMMON,
	.defaults = {.batch = 1, .heads = 2, .seq = 512, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_expect,
	.sweep = sweep_attention,
	.explain = lesson_explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
