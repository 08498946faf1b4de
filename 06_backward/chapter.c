/* Chapter 06: what the harness has to know about the backward kernels. */
#include "backward.h"
#include "lesson.h"

#include "harness.h"

/* Tiles are square: one of --tile-q and --tile-k is enough. */
static uint64_t backward_tile(const struct problem *problem)
{
	if (problem->tile_q || problem->tile_k)
		return problem->tile_q ? problem->tile_q : problem->tile_k;
	return (uint64_t)backward_default_tile((int)problem->dim);
}

static struct backward backward_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct backward){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.dO = device_find(memory, "dO"),
		.O = device_find(memory, "O"),
		.LSE = device_find(memory, "LSE"),
		.dQ = device_find(memory, "dQ"),
		.dK = device_find(memory, "dK"),
		.dV = device_find(memory, "dV"),
		.D = device_find(memory, "D"),
		.P = device_find(memory, "P"),
		.dP = device_find(memory, "dP"),
		.dS = device_find(memory, "dS"),
		.heads = (int)attention_heads(problem),
		.N = (int)problem->seq,
		.d = (int)problem->dim,
		.tile = (int)backward_tile(problem),
		.causal = problem->causal,
		.scale = problem->scale,
	};
}

static cudaError_t prepare(const struct problem *problem, const struct device_memory *memory)
{
	return attention_forward(backward_of(problem, memory));
}

static cudaError_t launch_naive(const struct problem *problem, const struct device_memory *memory)
{
	return attention_backward_naive(backward_of(problem, memory));
}

static cudaError_t launch_split(const struct problem *problem, const struct device_memory *memory)
{
	return attention_backward_split(backward_of(problem, memory));
}

static cudaError_t launch_atomic(const struct problem *problem, const struct device_memory *memory)
{
	return attention_backward_atomic(backward_of(problem, memory));
}

static bool backward_runs(const struct problem *problem, char *reason, size_t size)
{
	size_t tile = backward_tile(problem), tile_k = problem->tile_k ? problem->tile_k : tile;
	bool fits = (tile == 32 || tile == 64) && tile_k == tile;
	if (!fits)
		snprintf(
			reason, size, "tiles of %zu queries x %zu keys: its register tiles take 32 x 32 or 64 x 64",
			tile, tile_k);
	return fits;
}

static size_t shared_bytes(const struct problem *problem)
{
	return backward_shared_bytes((int)problem->dim, (int)backward_tile(problem));
}

static struct closed_forms naive_forms(const struct problem *problem)
{
	struct closed_forms forms = backward_naive_forms(problem);
	forms.shared_bytes = shared_bytes(problem); /* of the forward */
	return forms;
}

static struct closed_forms split_forms(const struct problem *problem)
{
	struct closed_forms forms = backward_split_forms(problem, (int)backward_tile(problem));
	forms.shared_bytes = shared_bytes(problem);
	return forms;
}

static struct closed_forms atomic_forms(const struct problem *problem)
{
	struct closed_forms forms = backward_atomic_forms(problem, (int)backward_tile(problem));
	forms.shared_bytes = shared_bytes(problem);
	return forms;
}

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "backward_naive",
		.summary = "six kernels; P, dP and dS in HBM",
		.tensors = backward_square_tensors,
		.prepare = prepare,
		.launch = launch_naive,
		.forms = naive_forms,
		.runs = backward_runs,
	},
	{
		.name = "backward_split",
		.summary = "P recomputed in tiles; dK and dV, then dQ; no atomics",
		.tensors = backward_tensors,
		.prepare = prepare,
		.launch = launch_split,
		.forms = split_forms,
		.runs = backward_runs,
	},
	{
		.name = "backward_atomic",
		.summary = "P recomputed in tiles, once; dQ by atomicAdd",
		.tensors = backward_tensors,
		.prepare = prepare,
		.launch = launch_atomic,
		.forms = atomic_forms,
		.runs = backward_runs,
	},
};

static const struct chapter chapter = {
	.name = "06_backward",
	.program = "backward",
	.title = "Gradients without the N x N matrices: recompute P.",
	.next = lesson_next,
	.small = "--seq 4 --dim 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTIONS_COMMON | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K),
	.defaults = {.batch = 1, .heads = 1, .seq = 256, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_gradients_expect,
	.sweep = sweep_backward,
	.explain = lesson_explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
