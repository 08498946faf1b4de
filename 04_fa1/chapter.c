/* Chapter 04: what the harness has to know about FlashAttention-1. */
#include "fa1.h"

#include "harness.h"

#include <math.h>
#include <string.h>

/* ---- tiles: --tile-q and --tile-k, or what fits the 48 KB that need no opting in ---- */

enum { FLOATS_WITHOUT_OPT_IN = 48 * 1024 / 4 };

/* Br = 64 and the largest multiple of 16 that fits: Bc = 64 at d = 64, exactly 48 KB. At most 128. */
static struct tile paper_tile(const struct problem *problem)
{
	struct tile tile = {problem->tile_q ? (int)problem->tile_q : 64, (int)problem->tile_k};
	if (!tile.Bc) {
		int fits = FLOATS_WITHOUT_OPT_IN / (2 * (int)problem->dim + tile.Br);
		tile.Bc = (int)smaller((uint64_t)(fits < 16 ? fits : fits / 16 * 16), 128);
	}
	return tile;
}

static struct tile row_tile(const struct problem *problem)
{
	return (struct tile){row_tile_queries(problem), row_tile_keys(problem)};
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
	forms.shared_bytes = fa_row_shared_bytes((int)problem->dim, tile);
	return forms;
}

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "fa1_paper",
		.summary = "Algorithm 1: outer loop K/V, inner loop Q; O, l, m in HBM",
		.tensors = fa1_tensors,
		.launch_attention = launch_fa1_paper,
		.forms = paper_forms,
	},
	{
		.name = "fa1_row",
		.summary = "one thread per query row, its state in registers",
		.tensors = attention_tensors,
		.launch_attention = launch_fa1_row,
		.forms = row_forms,
		.runs = row_runs,
	},
};

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"predict the units at Bc = 32, then", "--kernel fa1_paper --tile-k 32"},
	{"predict what a causal mask saves, then", "--causal"},
	{"the loops exchanged, cd ../05_fa2 && make", NULL},
};

static struct tile tile_of(const struct kernel_result *kernel)
{
	bool paper = strcmp(kernel->kernel->name, "fa1_paper") == 0;
	return paper ? paper_tile(kernel->problem) : row_tile(kernel->problem);
}

static double Br(const struct kernel_result *kernel)
{
	return tile_of(kernel).Br;
}

static double Bc(const struct kernel_result *kernel)
{
	return tile_of(kernel).Bc;
}

/* Requested elements of the matrices, in units of N d, all heads. */
static double units(const struct kernel_result *kernel)
{
	const struct traffic *moved = &kernel->compared_traffic[0];
	double Nd = (double)attention_rows(kernel->problem) * (double)kernel->problem->dim;
	return (double)(moved->read_bytes + moved->write_bytes) / sizeof(float) / Nd;
}

static const struct column columns[] = {
	{"Br", .unit = UNIT_COUNT, .value = Br},
	{"Bc", .unit = UNIT_COUNT, .value = Bc},
	{"blocks", .metric = METRIC_BLOCKS},
	{"shared", .metric = METRIC_SHARED_BYTES},
	{"units", .unit = UNIT_FIGURES, .value = units},
	{"l, m, LSE", .metric = METRIC_STATISTICS},
	{"exp", .metric = METRIC_EXPONENTIALS},
	{"memory", .metric = METRIC_PEAK_BYTES},
};

/* Of the leanest kernel that was run: what it holds at most beside naive attention, Q K V O and S and P. */
static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	double rows = (double)attention_rows(&result->problem), least = INFINITY;
	double naive = 4 * rows * (4 * (double)result->problem.dim + 2 * (double)result->problem.seq);
	char held[32], whole[32];
	for (size_t i = 0; i < result->kernel_count; i++)
		if (result->kernels[i].peak_bytes && (double)result->kernels[i].peak_bytes < least)
			least = (double)result->kernels[i].peak_bytes;
	if (isinf(least))
		return;
	terminal_print(
		terminal, STYLE_BOLD, "\nS is never stored: %s of memory, naive attention holds %s",
		format_bytes(least, held), format_bytes(naive, whole));
	fprintf(terminal->out, ".\nIn fa1_paper O, l and m come and go at every tile of keys; fa1_row keeps O in\n"
	                       "registers, and reads K and V again for every tile of queries.\n");
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
	table_row(&table, STYLE_DIM, "Bc|Tc|units|read|l, m per|shared, K and V|");
	table_row(&table, STYLE_DIM, "||3Tc+1|literally|head|tiles alone|");
	for (uint64_t keys = 64; keys <= 512; keys *= 2) {
		uint64_t Tc = ceil_div(problem->seq, keys), bytes = 8 * keys * problem->dim;
		uint64_t all = fa1_units(problem, (int)keys);
		char kept[32], shared[32];
		table_row(
			&table, STYLE_PLAIN, "%llu|%llu|%llu|%llu|%s|%s|%s", (unsigned long long)keys,
			(unsigned long long)Tc, (unsigned long long)all, (unsigned long long)(all + 2),
			format_count(fa1_statistics(problem, (int)keys), kept), format_count(bytes, shared),
			bytes <= gpu->shared_per_block ? "fits" : "does not fit");
	}
	table_print(&table, terminal);
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	double Nd = (double)attention_rows(&result->problem) * (double)result->problem.dim;
	double naive = 4.0 * (double)result->problem.seq / (double)result->problem.dim + 4.0;
	char title[200], unit[32];
	snprintf(
		title, sizeof title,
		"In units of N·d elements, %s here. Naive attention moves %.1f of them\n"
		"(a footprint); no kernel can request fewer than 4.\n",
		format_bytes(4 * Nd, unit), naive);
	columns_print(terminal, result, title, true, "kernel", columns, sizeof columns / sizeof columns[0]);
	print_finding(terminal, result);
	if (result->options->verbose)
		print_block_sizes(terminal, result);
}

static const struct chapter chapter = {
	.name = "04_fa1",
	.program = "fa1",
	.title = "FlashAttention-1: S never exists.",
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
