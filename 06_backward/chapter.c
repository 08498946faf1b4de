/* Chapter 06: what the harness has to know about the backward kernels. */
#include "backward.h"

#include "harness.h"

/* ---- launching ---- */

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
		.delta = device_find(memory, "D"),
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

/* ---- closed forms ---- */

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

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"predict what a causal mask saves each kernel, then", "--causal"},
	{"predict the units of tiles of 32, then", "--tile-q 32 --tile-k 32"},
	{"attention inside a model that speaks, cd ../07_transformer && make", NULL},
};

static double flop_per_pair(const struct kernel_result *kernel)
{
	return kernel->forms.flop / (attention_pairs(kernel->problem) * (double)kernel->problem->dim);
}

static double exponentials_per_pair(const struct kernel_result *kernel)
{
	return kernel->forms.exponentials / attention_pairs(kernel->problem);
}

static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *naive = result_counted(result, "backward_naive"),
				   *split = result_counted(result, "backward_split");
	if (!naive || !split)
		return;
	terminal_print(
		terminal, STYLE_BOLD, "\nWithout P, dP and dS: %.3g times less memory, %.3g times less footprint",
		(double)naive->peak_bytes / (double)split->peak_bytes,
		metric_value(naive, METRIC_FOOTPRINT_BYTES) / metric_value(split, METRIC_FOOTPRINT_BYTES));
	double flop = split->forms.flop / naive->forms.flop;
	if (flop < 1.0)
		fprintf(terminal->out,
		        ".\nP is made anew in both passes, and still there are %.3g times the FLOP of\n"
		        "naive, which multiplies the tiles above the diagonal, too.\n",
		        flop);
	else
		fprintf(terminal->out,
		        ".\nThe price is arithmetic: %.3g times the FLOP of naive, with P made anew in "
		        "both\npasses. ",
		        flop);
	fprintf(terminal->out, "backward_atomic has one pass; its atomics may change dQ from run to run.\n");
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	static const struct column columns[] = {
		{"\nfootprint", .metric = METRIC_FOOTPRINT_BYTES},
		{"memory\nat most", .metric = METRIC_PEAK_BYTES},
		{"of it\nN x N", .metric = METRIC_SQUARE_BYTES},
		{"FLOP/(N\u00b2d)\nper head", .unit = UNIT_FIGURES, .value = flop_per_pair},
		{"exp/N\u00b2\nper head", .unit = UNIT_FIGURES, .value = exponentials_per_pair},
		{"shared\nfloats/FMA", .metric = METRIC_SHARED_FLOATS_PER_FMA},
	};
	columns_print(
		terminal, result, "Memory, arithmetic, and shared memory asked for a multiply-add", false, "\nkernel",
		columns, sizeof columns / sizeof columns[0]);
	print_finding(terminal, result);
}

static const struct chapter chapter = {
	.name = "06_backward",
	.program = "backward",
	.title = "Gradients without the N x N matrices: recompute P.",
	.next = next,
	.small = "--seq 4 --dim 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTIONS_COMMON | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K),
	.defaults = {.batch = 1, .heads = 1, .seq = 256, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_gradients_expect,
	.sweep = sweep_backward,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
