#include "lesson.h"

#include <math.h>
#include <string.h>

const struct suggestion lesson_next[] = {
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

void lesson_explain(const struct terminal *terminal, const struct run_result *result)
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
		lesson_block_sizes(terminal, result);
}
