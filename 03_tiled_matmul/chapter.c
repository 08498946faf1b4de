/* Chapter 03: what the harness has to know about the five products, and the table that compares them. */
#include "tiled_matmul.h"

#include "harness.h"
#include "peer.h"

#include <string.h>

static struct matmul arguments(const struct problem *problem, const struct device_memory *memory)
{
	return (struct matmul){
		.A = device_find(memory, "A"),
		.B = device_find(memory, "B"),
		.C = device_find(memory, "C"),
		.m = (int)problem->m,
		.n = (int)problem->n,
		.k = (int)problem->k,
	};
}

static cudaError_t naive(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_naive(arguments(problem, memory));
}

static cudaError_t coalesced(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_coalesced(arguments(problem, memory));
}

static cudaError_t tiled(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_tiled(arguments(problem, memory));
}

static cudaError_t padded(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_padded(arguments(problem, memory));
}

static cudaError_t registers(const struct problem *problem, const struct device_memory *memory)
{
	return launch_matmul_registers(arguments(problem, memory));
}

static double products(const struct problem *problem)
{
	return (double)problem->m * (double)problem->n * (double)problem->k;
}

/* Requested: for each element of C a row of A and a column of B. Footprint: each matrix once. */
static size_t element_models(const struct problem *problem, struct model models[MAX_MODELS])
{
	uint64_t m = problem->m, n = problem->n, k = problem->k;
	models[0] = (struct model){MODEL_REQUESTED, 2 * m * n * k, m * n, "2mnk + mn"};
	models[1] = (struct model){MODEL_FOOTPRINT, m * k + k * n, m * n, "mk + kn + mn"};
	return 2;
}

/* Requested with tiles of BM x BN: A once for each of the ⌈n/BN⌉ columns of tiles, B once for each row of them. */
static size_t
tile_models(const struct problem *problem, uint64_t tile, const char *formula, struct model models[MAX_MODELS])
{
	uint64_t m = problem->m, n = problem->n, k = problem->k;
	uint64_t tile_rows = (m + tile - 1) / tile, tile_columns = (n + tile - 1) / tile;
	element_models(problem, models);
	models[0] = (struct model){MODEL_REQUESTED, m * k * tile_columns + k * n * tile_rows, m * n, formula};
	return 2;
}

static size_t tiled_models(const struct problem *problem, struct model models[MAX_MODELS])
{
	return tile_models(problem, MATMUL_TILE, "mk⌈n/32⌉ + kn⌈m/32⌉ + mn", models);
}

static size_t registers_models(const struct problem *problem, struct model models[MAX_MODELS])
{
	return tile_models(problem, MATMUL_REGISTER_TILE, "mk⌈n/128⌉ + kn⌈m/128⌉ + mn", models);
}

/* A block for each tile of C. */
static uint64_t blocks_of_tiles(const struct problem *problem, uint64_t tile)
{
	return ((problem->m + tile - 1) / tile) * ((problem->n + tile - 1) / tile);
}

static uint64_t tiled_blocks(const struct problem *problem)
{
	return blocks_of_tiles(problem, MATMUL_TILE);
}

static uint64_t registers_blocks(const struct problem *problem)
{
	return blocks_of_tiles(problem, MATMUL_REGISTER_TILE);
}

static double flop(const struct problem *problem)
{
	return 2.0 * products(problem);
}

/* "1.48": how many there are for each of `count`; "-" when there are none. */
static const char *per(double many, double count, char text[32])
{
	if (count > 0.0)
		snprintf(text, 32, many / count < 0.1 ? "%.4f" : "%.2f", many / count);
	else
		snprintf(text, 32, "-");
	return text;
}

static void add_kernel_row(struct table *table, const struct run_result *result, const struct kernel_result *kernel)
{
	const struct launch_counts *total = &kernel->counts.total;
	const struct shared_traffic *shared = &total->shared;
	char requested[32], sectors[32], wavefronts[32], ideal[32], reads[32], bound[32], median[32];
	uint64_t bytes = total->requested.read_bytes + total->requested.write_bytes;
	double shared_requests = (double)(shared->load_requests + shared->store_requests);
	double all_wavefronts = (double)(shared->load_wavefronts + shared->store_wavefronts);
	double lanes = 32.0 * (double)shared->load_requests; /* every lane of a request reads */
	per((double)(total->sectors.read_bytes + total->sectors.write_bytes), (double)total->requests, sectors);
	per(all_wavefronts, shared_requests, wavefronts);
	per((double)shared->ideal_wavefronts, shared_requests, ideal);
	per(lanes, shared_requests > 0.0 ? products(&result->problem) : 0.0, reads);
	bool counted = kernel->counts.counted;
	table_row(
		table, STYLE_PLAIN, "%s|%s|%s|%s|%s|%s|%s|%s", kernel->kernel->name + strlen("matmul_"),
		counted ? format_bytes((double)bytes, requested) : "", counted ? sectors : "",
		counted ? wavefronts : "", counted ? ideal : "", counted ? reads : "",
		kernel->has_floor ? format_milliseconds(kernel->floor.ms, bound) : "",
		kernel->time.runs ? format_milliseconds(kernel->time.median_ms, median) : "");
}

static void print_bank_conflicts(const struct terminal *terminal, const struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		const struct shared_traffic *shared = &kernel->counts.total.shared;
		if (!kernel->counts.counted || shared->store_requests == 0)
			continue;
		char stores[32], wavefronts[32];
		fprintf(terminal->out, "  %-10s %s stores, %s wavefronts\n", kernel->kernel->name + strlen("matmul_"),
		        format_count(shared->store_requests, stores),
		        format_count(shared->store_wavefronts, wavefronts));
	}
}

static void print_peer(const struct terminal *terminal, const struct run_result *result)
{
	const struct time_summary *peer = peer_time(result);
	char text[32];
	if (!peer)
		return;
	const struct kernel_result *best = &result->kernels[result->kernel_count - 1];
	fprintf(terminal->out, "\ncuBLAS SGEMM, fp32: %s", format_milliseconds(peer->median_ms, text));
	if (best->time.runs)
		fprintf(terminal->out, "; %s reaches %.0f %% of it", best->kernel->name,
		        100.0 * peer->median_ms / best->time.median_ms);
	fputc('\n', terminal->out);
}

static void print_times(const struct terminal *terminal, const struct run_result *result)
{
	struct table table = table_new("lrrr");
	terminal_print(terminal, STYLE_BOLD, "\nEach step, one thing changed\n");
	table_row(&table, STYLE_DIM, "matmul_|floor|time|TFLOP/s");
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		char bound[32], median[32];
		if (!kernel->time.runs)
			continue;
		table_row(
			&table, STYLE_PLAIN, "%s|%s|%s|%.3g", kernel->kernel->name + strlen("matmul_"),
			kernel->has_floor ? format_milliseconds(kernel->floor.ms, bound) : "",
			format_milliseconds(kernel->time.median_ms, median),
			1e-9 * flop(&result->problem) / kernel->time.median_ms);
	}
	table_print(&table, terminal);
}

static void explain(const struct terminal *terminal, const struct run_result *result)
{
	if (!result->device->simulated) { /* a GPU counts nothing: no empty columns */
		print_times(terminal, result);
		print_peer(terminal, result);
		return;
	}
	struct table table = table_new("lrrrrrrr");
	terminal_print(terminal, STYLE_BOLD, "\nEach step, one thing changed\n");
	table_row(&table, STYLE_DIM, "matmul_|bytes|sectors|wavefronts||shared|floor|time");
	table_row(
		&table, STYLE_DIM, "|requested|a request|a request|ideal|reads||%s",
		result->device->simulated ? "this CPU" : "");
	table_row(&table, STYLE_DIM, "|||||an FMA||");
	bool counted = false;
	for (size_t i = 0; i < result->kernel_count; i++) {
		if (result->kernels[i].skipped[0])
			continue;
		add_kernel_row(&table, result, &result->kernels[i]);
		counted = counted || result->kernels[i].counts.counted;
	}
	table_print(&table, terminal);
	if (counted) {
		terminal_print(terminal, STYLE_BOLD, "\nWarp-level stores to shared memory\n");
		print_bank_conflicts(terminal, result);
	}
	print_peer(terminal, result);
}

static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	static const size_t small[] = {64, 128, 192, 256, 384}, large[] = {256, 512, 1024, 2048, 4096};
	if (step >= sizeof small / sizeof small[0])
		return false;
	problem->m = problem->n = problem->k = simulated ? small[step] : large[step];
	return true;
}

static const struct kernel kernels[] = {
	{
		.name = "matmul_naive",
		.summary = "a thread an element, warps down the columns",
		.tensors =
			{{"A", "mk", TENSOR_INPUT, false},
                         {"B", "kn", TENSOR_INPUT, false},
                         {"C", "mn", TENSOR_OUTPUT, false}},
		.launch = naive,
		.models = element_models,
		.blocks = tiled_blocks,
		.flop = flop,
	},
	{
		.name = "matmul_coalesced",
		.summary = "warps along the rows",
		.tensors =
			{{"A", "mk", TENSOR_INPUT, false},
                         {"B", "kn", TENSOR_INPUT, false},
                         {"C", "mn", TENSOR_OUTPUT, false}},
		.launch = coalesced,
		.models = element_models,
		.blocks = tiled_blocks,
		.flop = flop,
	},
	{
		.name = "matmul_tiled",
		.summary = "32 x 32 tiles in shared memory",
		.tensors =
			{{"A", "mk", TENSOR_INPUT, false},
                         {"B", "kn", TENSOR_INPUT, false},
                         {"C", "mn", TENSOR_OUTPUT, false}},
		.launch = tiled,
		.models = tiled_models,
		.blocks = tiled_blocks,
		.flop = flop,
	},
	{
		.name = "matmul_padded",
		.summary = "the same without bank conflicts",
		.tensors =
			{{"A", "mk", TENSOR_INPUT, false},
                         {"B", "kn", TENSOR_INPUT, false},
                         {"C", "mn", TENSOR_OUTPUT, false}},
		.launch = padded,
		.models = tiled_models,
		.blocks = tiled_blocks,
		.flop = flop,
	},
	{
		.name = "matmul_registers",
		.summary = "128 x 128 tiles, 8 x 8 elements a thread",
		.tensors =
			{{"A", "mk", TENSOR_INPUT, false},
                         {"B", "kn", TENSOR_INPUT, false},
                         {"C", "mn", TENSOR_OUTPUT, false}},
		.launch = registers,
		.models = registers_models,
		.blocks = registers_blocks,
		.flop = flop,
	},
};

static const struct chapter chapter = {
	.name = "03_tiled_matmul",
	.program = "tiled_matmul",
	.title = "The tiled matrix product: fetch once, use many times.",
	.next = "predict the cost of ragged tiles, ./tiled_matmul --m 257 --n 257 --k 257",
	.small = "--m 2 --n 2 --k 2 --input ramp",
	.options = OPTION_BIT(OPTION_M) | OPTION_BIT(OPTION_N) | OPTION_BIT(OPTION_K) | OPTIONS_COMMON,
	.defaults = {.m = 256, .n = 256, .k = 256, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_matmul,
	.expect = matmul_expect,
	.sweep = sweep,
	.examine = peer_examine,
	.add_json = peer_add_json,
	.explain = explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
