/* Chapter 04: what the harness has to know about FlashAttention-1, and the tables of its lesson. */
#include "fa1.h"

#include "harness.h"

#include <string.h>

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static uint64_t heads(const struct problem *problem)
{
	return (uint64_t)problem->batch * problem->heads;
}

/* ---- tiles: --tile-q and --tile-k, or what fits the 48 KB that need no opting in ---- */

enum { FLOATS_WITHOUT_OPT_IN = 48 * 1024 / 4 };

/* Br = 64 and the largest multiple of 16 that fits: Bc = 64 at d = 64, exactly 48 KB. At most 128. */
static struct tile paper_tile(const struct problem *problem)
{
	struct tile tile = {problem->tile_q ? (int)problem->tile_q : 64, (int)problem->tile_k};
	if (!tile.Bc) {
		int fits = FLOATS_WITHOUT_OPT_IN / (2 * (int)problem->dim + tile.Br);
		tile.Bc = fits < 16 ? fits : fits / 16 * 16;
		tile.Bc = tile.Bc > 128 ? 128 : tile.Bc;
	}
	return tile;
}

static struct tile row_tile(const struct problem *problem)
{
	int Bc = problem->dim <= 96 ? 64 : 32;
	return (struct tile){
		problem->tile_q ? (int)problem->tile_q : 128, problem->tile_k ? (int)problem->tile_k : Bc};
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
		.heads = (int)heads(problem),
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

static bool
device_allows(const struct problem *problem, size_t bytes, const struct gpu *gpu, char *reason, size_t size)
{
	int limit = 0;
	char asked[32], allowed[32];
	CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
	if (heads(problem) > INT32_MAX) {
		snprintf(reason, size, "a block a head: the limit of a grid is %d blocks", INT32_MAX);
		return false;
	}
	if (bytes <= (size_t)limit)
		return true;
	snprintf(
		reason, size, "these tiles ask for %s bytes of shared memory a block, the limit of %s is %s",
		format_count(bytes, asked), gpu ? gpu->title : "this GPU", format_count((uint64_t)limit, allowed));
	return false;
}

static bool paper_runs(const struct problem *problem, const struct gpu *gpu, char *reason, size_t size)
{
	return device_allows(
		problem, fa1_paper_shared_bytes((int)problem->dim, paper_tile(problem)), gpu, reason, size);
}

static bool threads_fit(const struct problem *problem, char *reason, size_t size)
{
	if (row_tile(problem).Br <= FA1_MOST_ROW_THREADS)
		return true;
	snprintf(
		reason, size,
		"--tile-q %zu asks for as many threads a block, the limit is %d: each may need 255 of "
		"65,536 registers",
		problem->tile_q, FA1_MOST_ROW_THREADS);
	return false;
}

static bool row_runs(const struct problem *problem, const struct gpu *gpu, char *reason, size_t size)
{
	size_t bytes = fa1_row_shared_bytes((int)problem->dim, row_tile(problem));
	return threads_fit(problem, reason, size) && device_allows(problem, bytes, gpu, reason, size);
}

static bool row_dynamic_runs(const struct problem *problem, const struct gpu *gpu, char *reason, size_t size)
{
	size_t bytes = fa1_row_dynamic_shared_bytes((int)problem->dim, row_tile(problem));
	return threads_fit(problem, reason, size) && device_allows(problem, bytes, gpu, reason, size);
}

/* ---- closed forms, elements of all heads; none depends on the mask, for no kernel here skips a tile ---- */

/*
 * K and V once; Q and O once for each of the Tc tiles of keys. The first tile writes O without reading it, as the
 * released code does; the text read literally starts by writing O = 0 and reads that: 2 N d more.
 */
static size_t paper_models(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t Nd = (uint64_t)problem->seq * problem->dim,
		 Tc = ceil_div(problem->seq, (uint64_t)paper_tile(problem).Bc);
	models[0] = (struct model){
		MODEL_REQUESTED, heads(problem) * (2 + Tc + Tc - 1) * Nd, heads(problem) * Tc * Nd, "(3Tc + 1)Nd"};
	models[1] = (struct model){
		MODEL_FOOTPRINT, heads(problem) * (3 + (Tc > 1)) * Nd, heads(problem) * Nd,
		Tc > 1 ? "5Nd, O read and written" : "4Nd"};
	return 2;
}

/* Q and O once, K and V once for each tile of Br query rows. */
static size_t row_models(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t Nd = (uint64_t)problem->seq * problem->dim,
		 Tr = ceil_div(problem->seq, (uint64_t)row_tile(problem).Br);
	models[0] = (struct model){
		MODEL_REQUESTED, heads(problem) * (1 + 2 * Tr) * Nd, heads(problem) * Nd, "2Nd(1 + Tr)"};
	models[1] = (struct model){MODEL_FOOTPRINT, heads(problem) * 3 * Nd, heads(problem) * Nd, "4Nd"};
	return 2;
}

/* l and m are read and written at each of the Tc visits of a row, but not read at the first. */
static uint64_t paper_statistics(const struct problem *problem)
{
	uint64_t Tc = ceil_div(problem->seq, (uint64_t)paper_tile(problem).Bc);
	return heads(problem) * (4 * Tc - 2) * problem->seq;
}

/* LSE, written at the end. */
static uint64_t row_statistics(const struct problem *problem)
{
	return heads(problem) * problem->seq;
}

static double row_pairs(const struct problem *problem)
{
	return (double)heads(problem) * (double)problem->seq * (double)problem->seq;
}

/* Two products of 2 N² d FLOP a head, masked or not. */
static double flop(const struct problem *problem)
{
	return 4.0 * row_pairs(problem) * (double)problem->dim;
}

static double exponentials(const struct problem *problem)
{
	return row_pairs(problem);
}

static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = (size_t)128 << step;
	return problem->seq <= (simulated ? 1024 : 16384);
}

/* ---- the lesson ---- */

static void print_kernels(const struct terminal *terminal, const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	double Nd = (double)heads(problem) * (double)problem->seq * (double)problem->dim;
	double N = (double)problem->seq, d = (double)problem->dim;
	char unit[32];
	terminal_print(terminal, STYLE_BOLD, "\nIn units of N·d elements");
	fprintf(terminal->out,
	        ", %s here. Naive attention moves %.1f of them\n(a footprint); no kernel can move fewer than 4.\n\n",
	        format_bytes(4 * Nd, unit), 4 * N / d + 4);
	struct table table = table_new("llrrrrrr");
	table_row(&table, STYLE_DIM, "kernel|Br x Bc|blocks|shared|units|l, m, LSE|exp|memory");
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		if (!kernel->counts.counted)
			continue;
		struct tile tile = kernel->kernel->launch == launch_paper ? paper_tile(problem) : row_tile(problem);
		const struct traffic *moved = &kernel->measured[0];
		char shared[32], kept[32], exponential[32], memory[32];
		table_row(
			&table, STYLE_PLAIN, "%s|%d x %d|%llu|%s|%.4g|%s|%s|%s", kernel->kernel->name, tile.Br,
			tile.Bc, (unsigned long long)kernel->counts.blocks,
			format_count(kernel->counts.shared_bytes, shared),
			(double)(moved->read_bytes + moved->write_bytes) / 4 / Nd,
			format_count(kernel->statistic_bytes / 4, kept),
			format_count(kernel->counts.exponentials, exponential),
			format_bytes((double)kernel->peak_bytes, memory));
	}
	table_print(&table, terminal);
}

/* What the choice of Bc does to Algorithm 1, from the formula; K and V alone have to fit. */
static void print_block_sizes(const struct terminal *terminal, const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	const struct gpu *gpu = result->device->gpu;
	if (!gpu)
		return;
	terminal_print(terminal, STYLE_BOLD, "\nAlgorithm 1 against the tile of keys");
	fprintf(terminal->out, ", N=%zu d=%zu, from formulas;\n\"fits\" is meant for a block of the %s.\n\n",
	        problem->seq, problem->dim, gpu->title);
	struct table table = table_new("rrrrrrl");
	table_row(&table, STYLE_DIM, "Bc|Tc|units|read|l, m a|shared, K and V|");
	table_row(&table, STYLE_DIM, "||3Tc+1|literally|head|tiles alone|");
	for (uint64_t Bc = 64; Bc <= 512; Bc *= 2) {
		uint64_t Tc = ceil_div(problem->seq, Bc), bytes = 8 * Bc * problem->dim;
		char kept[32], shared[32];
		table_row(
			&table, STYLE_PLAIN, "%llu|%llu|%llu|%llu|%s|%s|%s", (unsigned long long)Bc,
			(unsigned long long)Tc, (unsigned long long)(3 * Tc + 1), (unsigned long long)(3 * Tc + 3),
			format_count((4 * Tc - 2) * problem->seq, kept), format_count(bytes, shared),
			bytes <= gpu->shared_per_block ? "fits" : "does not fit");
	}
	table_print(&table, terminal);
}

static void explain(const struct terminal *terminal, const struct run_result *result)
{
	if (result->kernel_count && result->kernels[0].counts.counted)
		print_kernels(terminal, result);
	print_block_sizes(terminal, result);
}

static const struct kernel kernels[] = {
	{
		.name = "fa1_paper",
		.summary = "Algorithm 1: outer loop K/V, inner loop Q; O, l, m in HBM",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"O", "BHNd", TENSOR_OUTPUT, false},
                         {"l", "BHN", TENSOR_SCRATCH, true},
                         {"m", "BHN", TENSOR_SCRATCH, true}},
		.launch = launch_paper,
		.models = paper_models,
		.statistics = paper_statistics,
		.blocks = heads, /* one for each */
		.flop = flop,
		.exponentials = exponentials,
		.runs = paper_runs,
	},
	{
		.name = "fa1_row",
		.summary = "a thread owns a query row, its state in registers",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"O", "BHNd", TENSOR_OUTPUT, false},
                         {"LSE", "BHN", TENSOR_OUTPUT, true}},
		.launch = launch_row,
		.models = row_models,
		.statistics = row_statistics,
		.blocks = heads, /* one for each */
		.flop = flop,
		.exponentials = exponentials,
		.runs = row_runs,
	},
	{
		.name = "fa1_row_dynamic",
		.summary = "the same with d known at run time: state in local memory",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"O", "BHNd", TENSOR_OUTPUT, false},
                         {"LSE", "BHN", TENSOR_OUTPUT, true}},
		.launch = launch_row_dynamic,
		.models = row_models,
		.statistics = row_statistics,
		.blocks = heads, /* one for each */
		.flop = flop,
		.exponentials = exponentials,
		.runs = row_dynamic_runs,
	},
};

static const struct chapter chapter = {
	.name = "04_fa1",
	.program = "fa1",
	.title = "FlashAttention-1: S never exists.",
	.next = "predict the units at Bc = 32, then ./fa1 --kernel fa1_paper --tile-k 32",
	.small = "--seq 4 --dim 2 --tile-q 2 --tile-k 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K) | OPTIONS_COMMON,
	.defaults = {.batch = 1, .heads = 2, .seq = 512, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_expect,
	.sweep = sweep,
	.explain = explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
