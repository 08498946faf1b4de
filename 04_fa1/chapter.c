/* Chapter 04: what the harness has to know about FlashAttention-1. */
#include "fa1.h"
#include "lesson.h"

#include "harness.h"

/* ---- tiles: --tile-q and --tile-k, or what fits the 48 KB that need no opting in ---- */

enum { FLOATS_WITHOUT_OPT_IN = 48 * 1024 / 4 };

/* Br = 64 and the largest multiple of 16 that fits: Bc = 64 at d = 64, exactly 48 KB. At most 128. */
struct tile paper_tile(const struct problem *problem)
{
	struct tile tile = {problem->tile_q ? (int)problem->tile_q : 64, (int)problem->tile_k};
	if (!tile.Bc) {
		int fits = FLOATS_WITHOUT_OPT_IN / (2 * (int)problem->dim + tile.Br);
		tile.Bc = (int)smaller((uint64_t)(fits < 16 ? fits : fits / 16 * 16), 128);
	}
	return tile;
}

struct tile row_tile(const struct problem *problem)
{
	return (struct tile){row_tile_queries(problem), row_tile_keys(problem)};
}

/* ---- launching ---- */

static struct attention attention(const struct problem *problem, const struct device_memory *memory, struct tile tile)
{
	return (struct attention){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.O = device_find(memory, "O"),
		.l = device_find(memory, "l"),
		.m = device_find(memory, "m"),
		.LSE = device_find(memory, "LSE"),
		.heads = (int)attention_heads(problem),
		.N = (int)problem->seq,
		.d = (int)problem->dim,
		.causal = problem->causal,
		.scale = problem->scale,
		.tile = tile,
	};
}

static cudaError_t launch_paper(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa1_paper(attention(problem, memory, paper_tile(problem)));
}

static cudaError_t launch_row(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa1_row(attention(problem, memory, row_tile(problem)));
}

static cudaError_t launch_row_dynamic(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa1_row_dynamic(attention(problem, memory, row_tile(problem)));
}

static bool row_runs(const struct problem *problem, char *reason, size_t size)
{
	return row_threads_fit(problem, FA1_MOST_ROW_THREADS, reason, size);
}

/* ---- closed forms; none depends on the mask, for no kernel here skips a tile ---- */

static struct closed_forms paper_forms(const struct problem *problem)
{
	struct tile tile = paper_tile(problem);
	struct closed_forms forms = fa1_forms(problem, tile.Bc);
	forms.tile_q = (size_t)tile.Br;
	forms.tile_k = (size_t)tile.Bc;
	forms.shared_bytes = fa1_paper_shared_bytes((int)problem->dim, tile);
	return forms;
}

static struct closed_forms row_forms(const struct problem *problem)
{
	struct tile tile = row_tile(problem);
	struct closed_forms forms = streamed_forms(problem, tile.Br, tile.Bc, false);
	forms.blocks = attention_heads(problem);
	forms.shared_bytes = fa1_row_shared_bytes((int)problem->dim, tile);
	return forms;
}

static struct closed_forms row_dynamic_forms(const struct problem *problem)
{
	struct closed_forms forms = row_forms(problem);
	forms.shared_bytes = fa1_row_dynamic_shared_bytes((int)problem->dim, row_tile(problem));
	return forms;
}

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "fa1_paper",
		.summary = "Algorithm 1: outer loop K/V, inner loop Q; O, l, m in HBM",
		.tensors = fa1_tensors,
		.launch = launch_paper,
		.forms = paper_forms,
	},
	{
		.name = "fa1_row",
		.summary = "one thread per query row, its state in registers",
		.tensors = attention_tensors,
		.launch = launch_row,
		.forms = row_forms,
		.runs = row_runs,
	},
	{
		.name = "fa1_row_dynamic",
		.summary = "the same with d known at run time: state in local memory",
		.tensors = attention_tensors,
		.launch = launch_row_dynamic,
		.forms = row_dynamic_forms,
		.runs = row_runs,
	},
};

static const struct chapter chapter = {
	.name = "04_fa1",
	.program = "fa1",
	.title = "FlashAttention-1: S never exists.",
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
