#include "lesson.h"

#include <string.h>

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
	const struct traffic *moved = &kernel->measured[0];
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

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
{
	double Nd = (double)attention_rows(&result->problem) * (double)result->problem.dim;
	double naive = 4.0 * (double)result->problem.seq / (double)result->problem.dim + 4.0;
	char title[200], unit[32];
	snprintf(
		title, sizeof title,
		"In units of N·d elements, %s here. Naive attention moves %.1f of them\n"
		"(a footprint); no kernel can move fewer than 4.\n",
		format_bytes(4 * Nd, unit), naive);
	columns_print(terminal, result, title, true, "kernel", columns, sizeof columns / sizeof columns[0]);
	print_block_sizes(terminal, result);
}
