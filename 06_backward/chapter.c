/* Chapter 06: what the harness has to know about the backward kernels, and the comparison of the three. */
#include "backward.h"

#include "harness.h"

/* Tiles are square: one of --tile-q and --tile-k is enough. */
static uint64_t tile_of(const struct problem *problem)
{
	if (problem->tile_q || problem->tile_k)
		return problem->tile_q ? problem->tile_q : problem->tile_k;
	return (uint64_t)backward_default_tile((int)problem->dim);
}

static struct backward describe(const struct problem *problem, const struct device_memory *memory)
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
		.heads = (int)(problem->batch * problem->heads),
		.N = (int)problem->seq,
		.d = (int)problem->dim,
		.tile = (int)tile_of(problem),
		.causal = problem->causal,
		.scale = problem->scale,
	};
}

static cudaError_t prepare(const struct problem *problem, const struct device_memory *memory)
{
	return attention_forward(describe(problem, memory));
}

static cudaError_t launch_naive(const struct problem *problem, const struct device_memory *memory)
{
	return attention_backward_naive(describe(problem, memory));
}

static cudaError_t launch_split(const struct problem *problem, const struct device_memory *memory)
{
	return attention_backward_split(describe(problem, memory));
}

static cudaError_t launch_atomic(const struct problem *problem, const struct device_memory *memory)
{
	return attention_backward_atomic(describe(problem, memory));
}

/* ---- closed forms: elements, all heads ---- */

/* The sum over tiles j of keys of R_j: queries from the first one that sees a key of the tile. */
static uint64_t queries_visited(const struct problem *problem)
{
	uint64_t sum = 0, tile = tile_of(problem);
	for (uint64_t first_key = 0; first_key < problem->seq; first_key += tile)
		sum += problem->seq - (problem->causal ? first_key : 0);
	return sum;
}

/* The sum over tiles i of queries of kappa_i: keys up to the end of the last tile that a query of the tile sees. */
static uint64_t keys_visited(const struct problem *problem)
{
	uint64_t sum = 0, tile = tile_of(problem), N = problem->seq;
	for (uint64_t first_query = 0; first_query < N; first_query += tile)
		sum += problem->causal && first_query + tile < N ? first_query + tile : N;
	return sum;
}

static uint64_t heads_of(const struct problem *problem)
{
	return problem->batch * problem->heads;
}

/* Six kernels, each tensor once: P 2Nd + N², dV N² + 2Nd, dP 2Nd + N², dS 3N², dQ and dK N² + 2Nd each. */
static size_t models_naive(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t heads = heads_of(problem), N = problem->seq, d = problem->dim;
	models[0] = (struct model){
		MODEL_FOOTPRINT, heads * (5 * N * N + 7 * N * d), heads * (3 * N * N + 3 * N * d), "8N² + 10Nd"};
	models[1] = (struct model){
		MODEL_REQUESTED, heads * (10 * N * N * d + 4 * N * N), heads * (3 * N * N + 3 * N * d),
		"10N²d + 7N² + 3Nd"};
	return 2;
}

/*
 * backward_preprocess reads dO and O. backward_dkdv reads K and V, then Q and dO for every tile of keys, and writes
 * dK and dV. backward_dq reads Q and dO, then K and V for every tile of queries, and writes dQ.
 */
static size_t models_split(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t heads = heads_of(problem), N = problem->seq, d = problem->dim;
	uint64_t visited = queries_visited(problem) + keys_visited(problem);
	models[0] = (struct model){
		MODEL_REQUESTED, heads * (6 * N * d + 2 * d * visited), heads * 3 * N * d,
		problem->causal ? "9Nd + 2d(ΣR + Σκ)" : "(9 + 4T)Nd"};
	models[1] = (struct model){MODEL_FOOTPRINT, heads * 10 * N * d, heads * 3 * N * d, "13Nd"};
	return 2;
}

/* As backward_preprocess and backward_dkdv above. */
static size_t models_atomic(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t heads = heads_of(problem), N = problem->seq, d = problem->dim, visited = queries_visited(problem);
	models[0] = (struct model){
		MODEL_REQUESTED, heads * (4 * N * d + 2 * d * visited), heads * 2 * N * d,
		problem->causal ? "6Nd + 2dΣR" : "(6 + 2T)Nd"};
	models[1] = (struct model){MODEL_FOOTPRINT, heads * 7 * N * d, heads * 3 * N * d, "10Nd"};
	return 2;
}

/* An atomic for each element of dQ, at every visit of a query's tile. */
static uint64_t atomics(const struct problem *problem)
{
	return heads_of(problem) * problem->dim * queries_visited(problem);
}

/* LSE for every element of P; the slope of a class's soft-cap asks for it once more. */
static uint64_t statistics_naive(const struct problem *problem)
{
	uint64_t times = problem->variant.kind == VARIANT_SOFTCAP ? 2 : 1;
	return times * heads_of(problem) * problem->seq * problem->seq;
}

/* backward_preprocess writes D; LSE and D are fetched with each tile of queries, */
static uint64_t statistics_atomic(const struct problem *problem)
{
	return heads_of(problem) * (problem->seq + 2 * queries_visited(problem));
}

/* and by backward_dq once more. */
static uint64_t statistics_split(const struct problem *problem)
{
	return statistics_atomic(problem) + 2 * heads_of(problem) * problem->seq;
}

/* ---- FLOP and exponentials: the kernels' own, recomputation included, the forward not ---- */

static double pairs(const struct problem *problem, bool masked)
{
	double N = (double)problem->seq;
	return (double)heads_of(problem) * (masked ? N * (N + 1) / 2 : N * N);
}

/* naive: a block a row of P. */
static uint64_t blocks_naive(const struct problem *problem)
{
	return heads_of(problem) * problem->seq;
}

/* split and atomic: a block for each tile, or, where rows are few, backward_preprocess: four rows a block. */
static uint64_t blocks_of_tiles(const struct problem *problem)
{
	uint64_t tile = tile_of(problem), tiles = heads_of(problem) * ((problem->seq + tile - 1) / tile);
	uint64_t preprocess = (heads_of(problem) * problem->seq + 3) / 4;
	return tiles > preprocess ? tiles : preprocess;
}

/* D: a product of N d elements */
static double preprocess_flop(const struct problem *problem)
{
	return 2.0 * (double)heads_of(problem) * (double)problem->seq * (double)problem->dim;
}

/* Five products of 2 N² d, masked or not. */
static double flop_naive(const struct problem *problem)
{
	return 10.0 * pairs(problem, false) * (double)problem->dim;
}

/* Seven: S, dP, dV, dK in backward_dkdv; S, dP, dQ in backward_dq. */
static double flop_split(const struct problem *problem)
{
	return 14.0 * pairs(problem, problem->causal) * (double)problem->dim + preprocess_flop(problem);
}

static double flop_atomic(const struct problem *problem)
{
	return 10.0 * pairs(problem, problem->causal) * (double)problem->dim + preprocess_flop(problem);
}

static double exponentials_naive(const struct problem *problem)
{
	return pairs(problem, problem->causal);
}

static double exponentials_split(const struct problem *problem)
{
	return 2.0 * pairs(problem, problem->causal);
}

/* ---- what runs where ---- */

static bool runs_tiles(const struct problem *problem, const struct gpu *gpu, char *reason, size_t size)
{
	size_t tile = tile_of(problem), tile_k = problem->tile_k ? problem->tile_k : tile;
	if ((tile != 32 && tile != 64) || tile_k != tile) {
		snprintf(
			reason, size, "tiles of %zu queries x %zu keys: its register tiles take 32 x 32 or 64 x 64",
			tile, tile_k);
		return false;
	}
	size_t bytes = backward_shared_bytes((int)problem->dim, (int)tile);
	if (!gpu || bytes <= gpu->shared_per_block)
		return true;
	snprintf(
		reason, size, "tiles of %zu at d = %zu need %zu bytes of shared memory a block, %s has %zu", tile,
		problem->dim, bytes, gpu->title, gpu->shared_per_block);
	return false;
}

static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = (size_t)64 << step;
	return problem->seq <= (simulated ? 512 : 16384);
}

/* ---- the lesson ---- */

static uint64_t square_bytes(const struct kernel *kernel, const struct problem *problem)
{
	uint64_t bytes = 0;
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++)
		if (tensor->shape[2] == 'N' && tensor->shape[3] == 'N')
			bytes += 4 * heads_of(problem) * problem->seq * problem->seq;
	return bytes;
}

/* What the three pay, side by side: memory, arithmetic, and how often arithmetic has to ask shared memory. */
static void explain(const struct terminal *terminal, const struct run_result *result)
{
	struct table table = table_new("lrrrrr");
	terminal_print(terminal, STYLE_BOLD, "\nMemory, arithmetic, and shared memory asked for a multiplication\n");
	table_row(&table, STYLE_DIM, "|memory|of it N\u00b2|FLOP/(N\u00b2d)|exp/N\u00b2|shared floats");
	table_row(&table, STYLE_DIM, "kernel|at most|matrices|a head|a head|a product");
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		const struct problem *problem = &result->problem;
		if (kernel->skipped[0])
			continue;
		char memory[32], square[32], shared[32] = "-";
		double all_pairs = pairs(problem, false), flop = kernel->kernel->flop(problem);
		if (kernel->counts.shared_requested_bytes)
			snprintf(
				shared, sizeof shared, "%.2f",
				(double)kernel->counts.shared_requested_bytes / 4 / (flop / 2));
		table_row(
			&table, STYLE_PLAIN, "%s|%s|%s|%.1f|%.1f|%s", kernel->kernel->name,
			format_bytes((double)kernel->peak_bytes, memory),
			format_bytes((double)square_bytes(kernel->kernel, problem), square),
			flop / (all_pairs * (double)problem->dim), kernel->kernel->exponentials(problem) / all_pairs,
			shared);
	}
	table_print(&table, terminal);
}

static const struct kernel kernels[] = {
	{
		.name = "backward_naive",
		.summary = "six kernels; P, dP and dS in HBM",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"dO", "BHNd", TENSOR_GRADIENT, false},
                         {"O", "BHNd", TENSOR_PREPARED, false}, /* only its forward writes it */
                         {"LSE", "BHN", TENSOR_OUTPUT, true},
                         {"P", "BHNN", TENSOR_SCRATCH, false},
                         {"dP", "BHNN", TENSOR_SCRATCH, false},
                         {"dS", "BHNN", TENSOR_SCRATCH, false},
                         {"dQ", "BHNd", TENSOR_OUTPUT, false},
                         {"dK", "BHNd", TENSOR_OUTPUT, false},
                         {"dV", "BHNd", TENSOR_OUTPUT, false}},
		.prepare = prepare,
		.launch = launch_naive,
		.models = models_naive,
		.statistics = statistics_naive,
		.blocks = blocks_naive,
		.flop = flop_naive,
		.exponentials = exponentials_naive,
		.runs = runs_tiles,
	},
	{
		.name = "backward_split",
		.summary = "P recomputed in tiles; dK and dV, then dQ; no atomics",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"dO", "BHNd", TENSOR_GRADIENT, false},
                         {"O", "BHNd", TENSOR_OUTPUT, false},
                         {"LSE", "BHN", TENSOR_OUTPUT, true},
                         {"D", "BHN", TENSOR_SCRATCH, true},
                         {"dQ", "BHNd", TENSOR_OUTPUT, false},
                         {"dK", "BHNd", TENSOR_OUTPUT, false},
                         {"dV", "BHNd", TENSOR_OUTPUT, false}},
		.prepare = prepare,
		.launch = launch_split,
		.models = models_split,
		.statistics = statistics_split,
		.blocks = blocks_of_tiles,
		.flop = flop_split,
		.exponentials = exponentials_split,
		.runs = runs_tiles,
	},
	{
		.name = "backward_atomic",
		.summary = "P recomputed in tiles, once; dQ by atomicAdd",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"dO", "BHNd", TENSOR_GRADIENT, false},
                         {"O", "BHNd", TENSOR_OUTPUT, false},
                         {"LSE", "BHN", TENSOR_OUTPUT, true},
                         {"D", "BHN", TENSOR_SCRATCH, true},
                         {"dQ", "BHNd", TENSOR_OUTPUT, false},
                         {"dK", "BHNd", TENSOR_OUTPUT, false},
                         {"dV", "BHNd", TENSOR_OUTPUT, false}},
		.prepare = prepare,
		.launch = launch_atomic,
		.models = models_atomic,
		.blocks = blocks_of_tiles,
		.atomics = atomics,
		.statistics = statistics_atomic,
		.flop = flop_atomic,
		.exponentials = exponentials_naive, /* one a visible pair, as well */
		.runs = runs_tiles,
	},
};

static const struct chapter chapter = {
	.name = "06_backward",
	.program = "backward",
	.title = "Gradients without the N x N matrices: recompute P.",
	.next = "predict what a causal mask saves each kernel, then ./backward --causal",
	.small = "--seq 4 --dim 2 --input ramp --kernel backward_naive",
	.options = OPTIONS_ATTENTION | OPTIONS_COMMON | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K),
	.defaults = {.batch = 1, .heads = 1, .seq = 256, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = attention_gradients_expect,
	.sweep = sweep,
	.explain = explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
