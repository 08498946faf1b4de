/* Chapter 04: what the harness has to know about FlashAttention-1. */
#include "fa1.h"

#include "harness.h"

#include <math.h>
#include <stdlib.h>
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

/* ---- --trace: one query, tile after tile ---- */

/* What trace_row found. All in one piece of memory, which the harness frees. */
struct trace {
	size_t head, row, seq, dim, Bc, count; /* row of its head; count = Tc tiles */
	struct trace_step *steps;
	float *s, *O; /* [N] scores, [Tc, d] */
	bool plain;   /* the kernels compute the same */
};

static int refuse_trace(
	const struct options *options, const char *tensor, struct problem *problem, uint64_t *fixed, float **values,
	struct error *error)
{
	(void)tensor, (void)problem, (void)fixed, (void)values;
	if (options->given & OPTION_BIT(OPTION_ROW) && !options->trace)
		return error_set(error, EXIT_USAGE, "--row: expected --trace, which shows that row");
	return 0;
}

static int expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	if (problem->row >= attention_rows(problem))
		return error_set(
			error, EXIT_USAGE, "--row: expected a whole number from 0 to %llu, got '%zu'",
			(unsigned long long)attention_rows(problem) - 1, problem->row);
	return attention_expect(problem, inputs, expectations, error);
}

static int trace(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	const struct problem *problem = &result->problem;
	if (!result->options->trace)
		return 0;
	size_t N = problem->seq, d = problem->dim, Bc = (size_t)row_tile(problem).Bc, count = ceil_div(N, Bc);
	struct trace *of = malloc(sizeof *of + count * sizeof *of->steps + (N + count * d) * sizeof(float));
	if (!of)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the trace");
	*of = (struct trace){
		problem->row / N, problem->row % N, N, d, Bc, count, .steps = (struct trace_step *)(of + 1)};
	of->s = (float *)(of->steps + count);
	of->O = of->s + N;
	of->plain = problem->variant.kind == VARIANT_PLAIN;
	size_t head = of->head * N * d;
	trace_row(
		find_values(inputs, "Q") + head + of->row * d, find_values(inputs, "K") + head,
		find_values(inputs, "V") + head, (int)N, (int)d, (int)(problem->causal ? of->row + 1 : N), (int)Bc,
		problem->scale, of->s, of->steps, of->O);
	result->findings = of;
	return 0;
}

static void add_array(struct json *json, const char *key, const float *values, size_t count)
{
	json_open_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_number(json, NULL, (double)values[i]);
	json_close_array(json);
}

static void add_json(struct json *json, const struct run_result *result)
{
	const struct trace *of = result->findings;
	if (!of || result->options->details) /* the page of --explain is on the kernels */
		return;
	json_open_array(json, "trace");
	for (size_t i = 0; i < of->count; i++) {
		json_open_object(json, NULL);
		json_count(json, "block", i);
		json_number(json, "m", (double)of->steps[i].m);
		json_number(json, "l", (double)of->steps[i].l);
		json_number(json, "correction", (double)of->steps[i].correction);
		add_array(json, "scores", of->s + i * of->Bc, smaller(of->Bc, of->seq - i * of->Bc));
		add_array(json, "O", of->O + i * of->dim, of->dim);
		json_close_object(json);
	}
	json_close_array(json);
}

/* The first numbers of a list; + 0.0 makes 0 of -0. */
static const char *list(const float *values, size_t count, double divisor, char text[64])
{
	enum { SHOWN = 2 };
	int length = 0;
	for (size_t i = 0; i < count && i < SHOWN; i++)
		length +=
			sprintf(text + length, "%s%.4g", i ? "  " : "", without_nan_sign(values[i] / divisor) + 0.0);
	strcpy(text + length, count > SHOWN ? " ..." : "");
	return text;
}

static void print_trace(const struct terminal *terminal, const struct trace *of)
{
	char scores[64], sums[64];
	terminal_print(
		terminal, STYLE_BOLD, "\nQuery %zu of head %zu, %zu keys at a time", of->row, of->head, of->Bc);
	fprintf(terminal->out, ", by trace.c on the CPU%s\n\n",
	        of->plain ? "" : ":\nplain attention, without this class's variant");
	struct table table = table_new("rrlrrrl");
	table_row(&table, STYLE_DIM, "tile|keys|scores|m|correction|l|O, not divided");
	for (size_t i = 0; i < of->count; i++) {
		const struct trace_step *step = &of->steps[i];
		size_t first = i * of->Bc, keys = smaller(of->Bc, of->seq - first);
		table_row(
			&table, STYLE_PLAIN, "%zu|%zu-%zu|%s|%.4g|%.4g|%.4g|%s", i, first, first + keys - 1,
			list(of->s + first, keys, 1.0, scores), (double)step->m + 0.0, (double)step->correction,
			(double)step->l, list(of->O + i * of->dim, of->dim, 1.0, sums));
	}
	table_print(&table, terminal);
	const struct trace_step *last = &of->steps[of->count - 1];
	fprintf(terminal->out, "\nO / l = %s   LSE = m + ln l = %.4g\n",
	        list(of->O + (of->count - 1) * of->dim, of->dim, (double)last->l, sums),
	        (double)last->m + log((double)last->l));
}

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"predict the units at Bc = 32, then", "--kernel fa1_paper --tile-k 32"},
	{"predict what a causal mask saves, then", "--causal"},
	{"a block for each tile of queries, cd ../05_fa2 && make", NULL},
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
	if (result->findings) {
		print_trace(terminal, result->findings);
		return;
	}
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
	.options = OPTIONS_ATTENTION | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K) |
                   OPTION_BIT(OPTION_ROW) | OPTION_BIT(OPTION_TRACE) | OPTIONS_COMMON,
	.defaults = {.batch = 1, .heads = 2, .seq = 512, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.provide = refuse_trace,
	.fill = input_fill_attention,
	.expect = expect,
	.sweep = sweep_attention,
	.examine = trace,
	.add_json = add_json,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
