/* Chapter 05: what the harness has to know about FlashAttention-2, and FA1 beside FA2. */
#include "fa2.h"

#include "harness.h"

#include <string.h>

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t heads(const struct problem *problem)
{
	return (uint64_t)problem->batch * problem->heads;
}

/* ---- tiles: of fa2_row by --tile-q and --tile-k, of fa2_split_q compiled in ---- */

static struct tile row_tile(const struct problem *problem)
{
	int Bc = problem->dim <= 96 ? 64 : 32;
	return (struct tile){
		problem->tile_q ? (int)problem->tile_q : 128, problem->tile_k ? (int)problem->tile_k : Bc};
}

static struct tile split_q_tile(const struct problem *problem)
{
	return fa2_split_q_tile((int)problem->dim);
}

/* ---- launching ---- */

static struct attention attention(const struct problem *problem, const struct device_memory *memory)
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
		.tile = row_tile(problem),
	};
}

static cudaError_t launch_row(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa2_row(attention(problem, memory));
}

static cudaError_t launch_split_q(const struct problem *problem, const struct device_memory *memory)
{
	return launch_fa2_split_q(attention(problem, memory));
}

static bool
device_allows(const struct problem *problem, size_t bytes, const struct gpu *gpu, char *reason, size_t size)
{
	int limit = 0;
	char asked[32], allowed[32];
	CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
	if (problem->batch > FA2_MOST_HEADS || problem->heads > FA2_MOST_HEADS) {
		snprintf(
			reason, size, "batch and heads are the grid's z and y, the limit of each is %d",
			FA2_MOST_HEADS);
		return false;
	}
	if (bytes <= (size_t)limit)
		return true;
	snprintf(
		reason, size, "its tiles ask for %s bytes of shared memory a block, the limit of %s is %s",
		format_count(bytes, asked), gpu ? gpu->title : "this GPU", format_count((uint64_t)limit, allowed));
	return false;
}

static bool row_runs(const struct problem *problem, const struct gpu *gpu, char *reason, size_t size)
{
	if (row_tile(problem).Br > FA2_MOST_ROW_THREADS) {
		snprintf(
			reason, size,
			"--tile-q %zu asks for as many threads a block, the limit is %d: each may need 255 "
			"of 65,536 registers",
			problem->tile_q, FA2_MOST_ROW_THREADS);
		return false;
	}
	return device_allows(problem, fa2_row_shared_bytes((int)problem->dim, row_tile(problem)), gpu, reason, size);
}

static bool split_q_runs(const struct problem *problem, const struct gpu *gpu, char *reason, size_t size)
{
	return device_allows(problem, fa2_split_q_shared_bytes((int)problem->dim), gpu, reason, size);
}

/* ---- closed forms ---- */

/*
 * Sums over the query tiles of one head. With kappa_i the keys that tile i loads (N; causal: up to its last row,
 * whole tiles of Bc):   keys = sum kappa_i,   pairs = sum rows_i kappa_i
 */
struct visits {
	uint64_t keys, pairs;
};

static struct visits visits(const struct problem *problem, struct tile tile)
{
	struct visits visits = {0, 0};
	uint64_t N = problem->seq, Br = (uint64_t)tile.Br, Bc = (uint64_t)tile.Bc;
	for (uint64_t first = 0; first < N; first += Br) {
		uint64_t end = smaller(first + Br, N), kappa = N;
		if (problem->causal)
			kappa = smaller(N, ceil_div(end, Bc) * Bc);
		visits.keys += kappa;
		visits.pairs += (end - first) * kappa;
	}
	return visits;
}

/* Elements of all heads: Q and O once; K and V once for each query tile that sees them. */
static size_t models(const struct problem *problem, struct tile tile, struct model models[MAX_MODELS])
{
	uint64_t Nd = (uint64_t)problem->seq * problem->dim, keys = visits(problem, tile).keys;
	models[0] = (struct model){
		MODEL_REQUESTED, heads(problem) * (Nd + 2 * problem->dim * keys), heads(problem) * Nd,
		problem->causal ? "2Nd + 2d·Σκᵢ" : "2Nd(1 + Tr)"};
	models[1] = (struct model){MODEL_FOOTPRINT, heads(problem) * 3 * Nd, heads(problem) * Nd, "4Nd"};
	return 2;
}

static size_t row_models(const struct problem *problem, struct model of[MAX_MODELS])
{
	return models(problem, row_tile(problem), of);
}

static size_t split_q_models(const struct problem *problem, struct model of[MAX_MODELS])
{
	return models(problem, split_q_tile(problem), of);
}

/* LSE, written at the end. */
static uint64_t statistics(const struct problem *problem)
{
	return heads(problem) * problem->seq;
}

/* A block for each tile of queries. */
static uint64_t row_blocks(const struct problem *problem)
{
	return heads(problem) * ceil_div(problem->seq, (uint64_t)row_tile(problem).Br);
}

static uint64_t split_q_blocks(const struct problem *problem)
{
	return heads(problem) * ceil_div(problem->seq, (uint64_t)split_q_tile(problem).Br);
}

/* Two products, of the tiles that are visited. */
static double row_pairs(const struct problem *problem)
{
	return (double)heads(problem) * (double)visits(problem, row_tile(problem)).pairs;
}

static double split_q_pairs(const struct problem *problem)
{
	return (double)heads(problem) * (double)visits(problem, split_q_tile(problem)).pairs;
}

static double row_flop(const struct problem *problem)
{
	return 4.0 * row_pairs(problem) * (double)problem->dim;
}

static double split_q_flop(const struct problem *problem)
{
	return 4.0 * split_q_pairs(problem) * (double)problem->dim;
}

static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = (size_t)128 << step;
	return problem->seq <= (simulated ? 1024 : 16384);
}

/* ---- FA1 beside FA2 ---- */

/* One column of the comparison: a kernel of this chapter, or chapter 04's fa1_paper. Traffic comes from closed forms,
 * which a counting run has just found equal to its counts. */
struct column {
	const char *name;
	const struct kernel_result *run; /* NULL: fa1_paper */
	struct tile tile;
	uint64_t blocks, rescales, divisions, statistics;
	double units, equal_units, published_units, memory_bytes;
	struct floor floor;
};

/* Tiles the papers and their code used at d = 64; and one for both. */
enum { FA1_PUBLISHED_BC = 256, FA2_PUBLISHED_BR = 128, EQUAL_TILE = 128, MOST_COLUMNS = 3 };

/* Algorithm 1 of FA1 as chapter 04 writes it, on the tiles of fa2_row. It masks and skips nothing. */
static struct column column_of_fa1(const struct run_result *result)
{
	const struct problem *problem = &result->problem;
	struct tile tile = row_tile(problem);
	uint64_t N = problem->seq, rows = heads(problem) * N, Tc = ceil_div(N, (uint64_t)tile.Bc);
	double Nd = (double)rows * (double)problem->dim;
	struct floor_work work = {
		.input_bytes = 12 * Nd,
		.written_bytes = 4 * Nd + 8 * (double)rows,
		.flop = 4 * Nd * (double)N,
		.exponentials = (double)rows * (double)N,
		.blocks = heads(problem)};
	return (struct column){
		.name = "fa1_paper",
		.tile = tile,
		.blocks = heads(problem),
		.rescales = rows * Tc,
		.divisions = rows * Tc,
		.statistics = heads(problem) * (4 * Tc - 2) * N,
		.units = 3 * (double)Tc + 1,
		.equal_units = 3 * (double)ceil_div(N, EQUAL_TILE) + 1,
		.published_units = 3 * (double)ceil_div(N, FA1_PUBLISHED_BC) + 1,
		.memory_bytes = 4 * (4 * Nd + 2 * (double)rows),
		.floor = floor_compute(&work, result->device->gpu),
	};
}

static double units(const struct problem *problem, struct tile tile)
{
	return 2 + 2 * (double)visits(problem, tile).keys / (double)problem->seq;
}

static struct column column_of_fa2(const struct run_result *result, const struct kernel_result *kernel)
{
	const struct problem *problem = &result->problem;
	bool row = kernel->kernel->launch == launch_row;
	struct tile tile = row ? row_tile(problem) : split_q_tile(problem);
	uint64_t N = problem->seq, rows = heads(problem) * N;
	uint64_t at_once = row ? (uint64_t)fa2_row_keys_at_once((int)problem->dim) : (uint64_t)tile.Bc, rescales = 0;
	/* a visit of keys [first, end) rescales each row once a group of keys */
	for (uint64_t first_row = 0; first_row < N; first_row += (uint64_t)tile.Br) {
		uint64_t last = smaller(first_row + (uint64_t)tile.Br, N), end = problem->causal ? last : N;
		for (uint64_t first = 0; first < end; first += (uint64_t)tile.Bc)
			rescales += (last - first_row) * ceil_div(smaller((uint64_t)tile.Bc, N - first), at_once);
	}
	return (struct column){
		.name = kernel->kernel->name,
		.run = kernel,
		.tile = tile,
		.blocks = heads(problem) * ceil_div(N, (uint64_t)tile.Br),
		.rescales = heads(problem) * rescales,
		.divisions = rows,
		.statistics = statistics(problem),
		.units = units(problem, tile),
		.equal_units = units(problem, (struct tile){EQUAL_TILE, EQUAL_TILE}),
		.published_units = units(problem, (struct tile){FA2_PUBLISHED_BR, FA2_PUBLISHED_BR}),
		.memory_bytes = (double)kernel->peak_bytes,
		.floor = kernel->floor,
	};
}

enum line {
	LINE_TILE,
	LINE_OUTER,
	LINE_INNER,
	LINE_STATE,
	LINE_MAXIMUM,
	LINE_KEPT,
	LINE_CAUSAL,
	LINE_BLOCKS,
	LINE_SMS,
	LINE_UNITS,
	LINE_EQUAL,
	LINE_PUBLISHED,
	LINE_RESCALES,
	LINE_DIVISIONS,
	LINE_STATISTICS,
	LINE_MEMORY,
	LINE_ERROR,
	LINE_FLOOR,
	LINE_TIME,
	LINES
};

static const char *const labels[LINES] = {
	[LINE_TILE] = "tile, Br x Bc",
	[LINE_OUTER] = "outer loop",
	[LINE_INNER] = "inner loop",
	[LINE_STATE] = "O, l and m live in",
	[LINE_MAXIMUM] = "maximum subtracted",
	[LINE_KEPT] = "kept of a row",
	[LINE_CAUSAL] = "tiles above the diagonal",
	[LINE_BLOCKS] = "blocks",
	[LINE_SMS] = "SMs they can fill",
	[LINE_UNITS] = "units of N·d, bytes",
	[LINE_EQUAL] = "  at 128 x 128",
	[LINE_PUBLISHED] = "  at published tiles",
	[LINE_RESCALES] = "rows of O rescaled",
	[LINE_DIVISIONS] = "rows of O divided",
	[LINE_STATISTICS] = "statistics moved",
	[LINE_MEMORY] = "device memory",
	[LINE_ERROR] = "error",
	[LINE_FLOOR] = "floor",
	[LINE_TIME] = "time",
};

static void write_units(double units, double unit_bytes, char cell[64])
{
	char bytes[32];
	snprintf(cell, 64, "%.4g, %s", units, format_bytes(units * unit_bytes, bytes));
}

static void write_cell(enum line line, const struct column *column, const struct run_result *result, char cell[64])
{
	const struct gpu *gpu = result->device->gpu;
	const struct kernel_result *run = column->run;
	double unit_bytes =
		4 * (double)heads(&result->problem) * (double)result->problem.seq * (double)result->problem.dim;
	uint64_t sms = (uint64_t)gpu->sms;
	switch (line) {
	case LINE_TILE: snprintf(cell, 64, "%d x %d", column->tile.Br, column->tile.Bc); break;
	case LINE_OUTER: strcpy(cell, run ? "Q, the grid" : "K and V"); break;
	case LINE_INNER: strcpy(cell, run ? "K and V" : "Q, O, l, m"); break;
	case LINE_STATE: strcpy(cell, run ? "registers" : "HBM"); break;
	case LINE_MAXIMUM: strcpy(cell, run ? "running" : "the tile's"); break;
	case LINE_KEPT: strcpy(cell, run ? "LSE" : "l and m"); break;
	case LINE_CAUSAL: strcpy(cell, run ? "skipped" : "masked"); break;
	case LINE_BLOCKS: format_count(column->blocks, cell); break;
	case LINE_SMS:
		snprintf(cell, 64, "%llu of %d", (unsigned long long)smaller(column->blocks, sms), gpu->sms);
		break;
	case LINE_UNITS: write_units(column->units, unit_bytes, cell); break;
	case LINE_EQUAL: write_units(column->equal_units, unit_bytes, cell); break;
	case LINE_PUBLISHED: write_units(column->published_units, unit_bytes, cell); break;
	case LINE_RESCALES: format_count(column->rescales, cell); break;
	case LINE_DIVISIONS: format_count(column->divisions, cell); break;
	case LINE_STATISTICS: format_count(column->statistics, cell); break;
	case LINE_MEMORY: format_bytes(column->memory_bytes, cell); break;
	case LINE_ERROR:
		if (run)
			snprintf(cell, 64, "%.1e", run->outputs[run->worst].check.max_abs);
		else
			strcpy(cell, "run 04");
		break;
	case LINE_FLOOR: format_milliseconds(column->floor.ms, cell); break;
	default:
		if (run && run->time.runs)
			format_milliseconds(run->time.median_ms, cell);
		else
			strcpy(cell, run ? "" : "run 04");
	}
}

static void print_comparison(const struct terminal *terminal, const struct run_result *result)
{
	const struct gpu *gpu = result->device->gpu;
	struct column columns[MOST_COLUMNS] = {column_of_fa1(result)};
	size_t count = 1;
	for (size_t i = 0; i < result->kernel_count && count < MOST_COLUMNS; i++)
		if (result->kernels[i].verified)
			columns[count++] = column_of_fa2(result, &result->kernels[i]);
	if (count == 1)
		return;
	terminal_print(terminal, STYLE_BOLD, "\nFA1 beside FA2");
	fprintf(terminal->out,
	        ", all heads, on an %s. The column of\nfa1_paper (chapter 04) comes from closed forms, at the tile "
	        "of %s.\n"
	        "Published tiles: FA1 Bc = 256 at d = 64, FA2 Br = 128.\n\n",
	        gpu->title, columns[1].name);
	struct table table = table_new("lrrr");
	for (int line = -1; line < LINES; line++) {
		char cells[MOST_COLUMNS][64] = {"", "", ""};
		for (size_t i = 0; i < count; i++)
			if (line < 0)
				snprintf(cells[i], sizeof cells[i], "%s", columns[i].name);
			else
				write_cell((enum line)line, &columns[i], result, cells[i]);
		table_row(
			&table, line < 0 ? STYLE_DIM : STYLE_PLAIN, "%s|%s|%s|%s", line < 0 ? "" : labels[line],
			cells[0], cells[1], cells[2]);
	}
	table_print(&table, terminal);
}

/* What bounds a kernel on one SM: how often it goes to shared memory. */
static void print_shared(const struct terminal *terminal, const struct run_result *result)
{
	bool counted = false;
	for (size_t i = 0; i < result->kernel_count; i++)
		counted = counted || result->kernels[i].counts.total.shared.load_requests > 0;
	if (!counted)
		return;
	terminal_print(terminal, STYLE_BOLD, "\nShared memory, as the source says it\n\n");
	struct table table = table_new("lrrrrr");
	table_row(&table, STYLE_DIM, "kernel|block, bytes|loads|FMA a load|wavefronts an FMA|conflicts");
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		const struct shared_traffic *shared = &kernel->counts.total.shared;
		double warp_fma = kernel->kernel->flop(&result->problem) / 2 / 32;
		char bytes[32], loads[32], conflicts[32];
		if (shared->load_requests == 0)
			continue;
		table_row(
			&table, STYLE_PLAIN, "%s|%s|%s|%.2f|%.3f|%s", kernel->kernel->name,
			format_count(kernel->counts.shared_bytes, bytes), format_count(shared->load_requests, loads),
			warp_fma / (double)shared->load_requests,
			(double)(shared->load_wavefronts + shared->store_wavefronts) / warp_fma,
			format_count(shared->conflicts, conflicts));
	}
	table_print(&table, terminal);
}

static void explain(const struct terminal *terminal, const struct run_result *result)
{
	if (!result->device->gpu)
		return;
	print_comparison(terminal, result);
	print_shared(terminal, result);
}

static const struct kernel kernels[] = {
	{
		.name = "fa2_row",
		.summary = "chapter 04's row kernel with the loops exchanged",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"O", "BHNd", TENSOR_OUTPUT, false},
                         {"LSE", "BHN", TENSOR_OUTPUT, true}},
		.launch = launch_row,
		.models = row_models,
		.statistics = statistics,
		.blocks = row_blocks,
		.flop = row_flop,
		.exponentials = row_pairs,
		.runs = row_runs,
	},
	{
		.name = "fa2_split_q",
		.summary = "warps split the query tile; register tiles, 16-byte reads",
		.tensors =
			{{"Q", "BHNd", TENSOR_INPUT, false},
                         {"K", "BHNd", TENSOR_INPUT, false},
                         {"V", "BHNd", TENSOR_INPUT, false},
                         {"O", "BHNd", TENSOR_OUTPUT, false},
                         {"LSE", "BHN", TENSOR_OUTPUT, true}},
		.launch = launch_split_q,
		.models = split_q_models,
		.statistics = statistics,
		.blocks = split_q_blocks,
		.flop = split_q_flop,
		.exponentials = split_q_pairs,
		.runs = split_q_runs,
	},
};

static const struct chapter chapter = {
	.name = "05_fa2",
	.program = "fa2",
	.title = "FlashAttention-2: swap the loops.",
	.next = "predict what the causal mask saves this time, then ./fa2 --causal",
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
