/* Chapter 02: what the harness has to know about the three softmax kernels. */
#include "online_softmax.h"

#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- launching ---- */

static struct softmax arguments(const struct problem *problem, const struct device_memory *memory)
{
	return (struct softmax){
		.x = device_find(memory, "x"),
		.V = device_find(memory, "V"),
		.y = device_find(memory, "y"),
		.m = device_find(memory, "m"),
		.l = device_find(memory, "l"),
		.rows = (int)problem->rows,
		.cols = (int)problem->cols,
		.dim = (int)problem->dim,
		.block = (int)problem->block,
	};
}

/* softmax_NAME as the harness wants it. */
#define LAUNCH(name)                                                                                                 \
	static cudaError_t name(const struct problem *problem, const struct device_memory *memory)                   \
	{                                                                                                            \
		return launch_softmax_##name(arguments(problem, memory));                                            \
	}
LAUNCH(three_pass)
LAUNCH(online)
LAUNCH(dot)

/* ---- closed forms ---- */

/* x so many times and y once; with a perfect cache, whatever the number of passes, x once. m and l once. */
static struct closed_forms forms(
	const struct problem *problem, uint64_t passes, const char *formula, double flop, double exponentials)
{
	uint64_t RC = (uint64_t)problem->rows * problem->cols;
	return (struct closed_forms){
		.predictions = {{PREDICTS_REQUESTED, passes * RC, RC, formula}, {PREDICTS_FOOTPRINT, RC, RC, "2RC"}},
		.statistics = 2 * problem->rows,
		.blocks = problem->rows,
		.flop = flop * (double)RC,
		.exponentials = exponentials * (double)RC,
	};
}

/* A score costs a maximum, a difference and a sum; then a difference and a quotient. */
static struct closed_forms three_pass_forms(const struct problem *problem)
{
	return forms(problem, 3, "3RC + RC", 5.0, 2.0);
}

/*
 * A merge: a maximum, two differences, two products, a sum; then a difference and a quotient. Two exponentials in the
 * merge of each score, one for its weight. The merges of lanes, warps and blocks come on top.
 */
static struct closed_forms online_forms(const struct problem *problem)
{
	return forms(problem, 2, "2RC + RC", 8.0, 3.0);
}

/* A merge and a difference; then a product and a sum for each column of V. x once; each row asks for all of V. */
static struct closed_forms dot_forms(const struct problem *problem)
{
	uint64_t RC = (uint64_t)problem->rows * problem->cols, d = problem->dim;
	struct closed_forms of = forms(problem, 1, "", 7.0 + 2.0 * (double)d, 3.0);
	of.predictions[0] = (struct prediction){PREDICTS_REQUESTED, RC + RC * d, problem->rows * d, "RC + RCd + Rd"};
	of.predictions[1] =
		(struct prediction){PREDICTS_FOOTPRINT, RC + problem->cols * d, problem->rows * d, "RC + Cd + Rd"};
	of.shared_bytes = softmax_dot_shared_bytes((int)problem->cols, (int)problem->block);
	return of;
}

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "softmax_three_pass",
		.summary = "maximum, sum, quotient: the definition",
		.tensors = softmax_tensors,
		.launch = three_pass,
		.forms = three_pass_forms,
	},
	{
		.name = "softmax_online",
		.summary = "maximum and sum in one pass",
		.tensors = softmax_tensors,
		.launch = online,
		.forms = online_forms,
	},
	{
		.name = "softmax_dot",
		.summary = "softmax(x) V in one pass: FlashAttention for one row",
		.tensors = softmax_dot_tensors,
		.launch = dot,
		.forms = dot_forms,
	},
};

/* ---- --trace: the stream of one row, block after block ---- */

/* What was known after each block. All in one piece of memory, which the harness frees. */
struct stream {
	size_t row, cols, block, count; /* count = ceil(cols / block) updates */
	struct update *updates;
	float *x, *y; /* [cols], the row, and its softmax, from the last update's m and l */
};

static int trace_row(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	const struct problem *problem = &result->problem;
	if (!result->options->trace)
		return 0;
	size_t cols = problem->cols, count = ceil_div(cols, problem->block);
	struct stream *stream = malloc(sizeof *stream + count * sizeof *stream->updates + 2 * cols * sizeof(float));
	if (!stream)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the trace");
	struct update *updates = (struct update *)(stream + 1);
	float *x = (float *)(updates + count), *y = x + cols;
	*stream = (struct stream){problem->row, cols, problem->block, count, updates, x, y};
	memcpy(x, find_values(inputs, "x") + scores_row(problem) * cols, cols * sizeof(float));

	struct device_memory memory = {.count = 0};
	struct softmax row = {.rows = 1, .cols = (int)cols, .block = (int)problem->block};
	float *row_x = device_allocate(&memory, "x", cols * sizeof(float));
	struct update *written = (void *)device_allocate(&memory, "updates", count * sizeof *updates);
	row.x = row_x;
	CUDA_CHECK(cudaMemcpy(row_x, x, cols * sizeof(float), cudaMemcpyHostToDevice));
	CUDA_CHECK(launch_softmax_trace(row, 0, written));
	CUDA_CHECK(cudaMemcpy(updates, written, count * sizeof *updates, cudaMemcpyDeviceToHost));
	device_free_all(&memory);

	float m = updates[count - 1].m, l = updates[count - 1].l;
	for (size_t j = 0; j < cols; j++)
		y[j] = l > 0.0f ? (float)softmax_weight(x[j], m, problem->variant) / l : 0.0f;
	result->findings = stream;
	return 0;
}

static void add_array(struct json *json, const char *key, const float *values, size_t count)
{
	json_open_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_number(json, NULL, values[i]);
	json_close_array(json);
}

static void add_json(struct json *json, const struct run_result *result)
{
	const struct stream *stream = result->findings;
	if (!stream)
		return;
	json_open_array(json, "trace");
	for (size_t i = 0; i < stream->count; i++) {
		json_open_object(json, NULL);
		json_count(json, "block", i);
		json_number(json, "m", stream->updates[i].m);
		json_number(json, "l", stream->updates[i].l);
		json_number(json, "correction", stream->updates[i].correction);
		json_close_object(json);
	}
	json_close_array(json);
	add_array(json, "x", stream->x, stream->cols);
	add_array(json, "softmax", stream->y, stream->cols);
}

static void print_updates(const struct terminal *terminal, const struct stream *stream)
{
	struct table table = table_new("rrrrrr");
	table_row(&table, STYLE_DIM, "block|columns|its max|m|correction|l");
	float before = -INFINITY;
	for (size_t i = 0; i < stream->count; i++) {
		const struct update *update = &stream->updates[i];
		size_t first = i * stream->block, end = smaller(first + stream->block, stream->cols);
		float largest = -INFINITY;
		for (size_t j = first; j < end; j++)
			largest = fmaxf(largest, stream->x[j]);
		table_row(
			&table, update->m > before ? STYLE_BOLD : STYLE_PLAIN, "%zu|%zu-%zu|%.6g|%.6g|%.4g|%.5f", i,
			first, end - 1, (double)largest, without_nan_sign(update->m),
			without_nan_sign(update->correction), without_nan_sign(update->l));
		before = update->m;
	}
	table_print(&table, terminal);
}

/* All weights of a short row, the largest ones of a long one. */
static void print_softmax(const struct terminal *terminal, const struct stream *stream)
{
	enum { SHOWN = 6 };
	FILE *out = terminal->out;
	if (stream->cols <= SHOWN) {
		fprintf(out, "\nsoftmax  ");
		for (size_t j = 0; j < stream->cols; j++)
			fprintf(out, " %.6f", without_nan_sign(stream->y[j]));
		fputc('\n', out);
		return;
	}
	fprintf(out, "\nThe %d largest weights of the softmax\n", SHOWN);
	struct table table = table_new("rrr");
	table_row(&table, STYLE_DIM, "column|x|y");
	for (size_t shown = 0, last = stream->cols; shown < SHOWN; shown++) {
		size_t best = stream->cols; /* the next in descending order; of equal ones, the next column */
		for (size_t j = 0; j < stream->cols; j++) {
			bool after = last == stream->cols || stream->y[j] < stream->y[last] ||
			             (stream->y[j] == stream->y[last] && j > last);
			if (after && (best == stream->cols || stream->y[j] > stream->y[best]))
				best = j;
		}
		if (best == stream->cols)
			break; /* the others are NaN */
		table_row(
			&table, STYLE_PLAIN, "%zu|%.6g|%.6f", best, (double)stream->x[best],
			without_nan_sign(stream->y[best]));
		last = best;
	}
	table_print(&table, terminal);
}

static void print_stream(const struct terminal *terminal, const struct stream *stream)
{
	terminal_print(terminal, STYLE_BOLD, "\nRow %zu in blocks of %zu", stream->row, stream->block);
	fprintf(terminal->out, "\nAfter each block: the largest score so far, what the sum so far was\n"
	                       "multiplied by, and the sum of exp(x - m) so far.\n\n");
	print_updates(terminal, stream);
	print_softmax(terminal, stream);
}

/* ---- what the page prints ---- */

static const struct suggestion next[] = {
	{"by hand,", "--trace --values 1,2,3,6,2,1 --block 3"},
	{NULL, "--trace --load ../tests/data/real_qkv --row 9 --block 64"},
	{"fetch once, use many times, cd ../03_tiled_matmul && make", NULL},
};

static bool is_three_pass(const struct kernel_result *kernel)
{
	return strcmp(kernel->kernel->name, "softmax_three_pass") == 0;
}

static double scores(const struct kernel_result *kernel)
{
	return (double)kernel->problem->rows * (double)kernel->problem->cols;
}

/* How often all threads together read an element of x. */
static double reads_of_x(const struct kernel_result *kernel)
{
	const struct launch_counts *total = &kernel->counts.total;
	double bytes = 0.0;
	for (size_t t = 0; t < total->tensor_count; t++)
		if (strcmp(total->tensors[t].name, "x") == 0)
			bytes += (double)total->tensors[t].requested.read_bytes;
	return bytes / sizeof(float) / scores(kernel);
}

static double exponentials_of_x(const struct kernel_result *kernel)
{
	return (double)kernel->counts.exponentials / scores(kernel);
}

/* By the source of the kernels: three passes compute a weight for the sum and again for the quotient, the others once. */
static double weights_of_x(const struct kernel_result *kernel)
{
	return is_three_pass(kernel) ? 2.0 : 1.0;
}

/* A score is merged with what its thread has seen: an exponential for each of the two. */
static double merges_of_x(const struct kernel_result *kernel)
{
	return is_three_pass(kernel) ? 0.0 : 2.0;
}

/* The rest of what was counted: of pairs of lanes, warps and blocks. Not known of scores that are all -inf: no merge there. */
static double merges_of_threads(const struct kernel_result *kernel)
{
	double rest = exponentials_of_x(kernel) - weights_of_x(kernel) - merges_of_x(kernel);
	return rest < 0.0 ? (double)NAN : rest;
}

static const struct column columns[] = {
	{"reads\nof x", .unit = UNIT_RATIO, .value = reads_of_x},
	{"exp,\ncounted", .unit = UNIT_RATIO, .value = exponentials_of_x},
	{"for its\nweight", .unit = UNIT_RATIO, .value = weights_of_x},
	{"for its\nmerge", .unit = UNIT_RATIO, .value = merges_of_x},
	{"between\nthreads", .unit = UNIT_RATIO, .value = merges_of_threads},
	{"\nfootprint", .metric = METRIC_FOOTPRINT_BYTES},
};

/* With the kernels it compares, and where they were counted. */
static void print_finding(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *three = result_counted(result, "softmax_three_pass"),
				   *online = result_counted(result, "softmax_online");
	if (!three || !online)
		return;
	double less =
		1.0 - metric_value(online, METRIC_REQUESTED_BYTES) / metric_value(three, METRIC_REQUESTED_BYTES);
	terminal_print(terminal, STYLE_BOLD, "\nOne pass less: %.0f %% fewer bytes requested", 100.0 * less);
	fprintf(terminal->out,
	        ", and the footprint is the same.\n"
	        "The price is exponentials: a merge takes two. Each score is merged once. After\n"
	        "each block of %zu columns the threads merge their pairs: the wider the blocks,\n"
	        "the fewer exponentials that takes per element.\n",
	        result->problem.block);
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	if (result->findings)
		print_stream(terminal, result->findings);
	else {
		columns_print(
			terminal, result, "Per element of x: reads, and exponentials by their purpose", true, "",
			columns, sizeof columns / sizeof columns[0]);
		print_finding(terminal, result);
	}
}

static const struct chapter chapter = {
	.name = "02_online_softmax",
	.program = "online_softmax",
	.title = "The online softmax: a maximum that may still grow.",
	.next = next,
	.small = "--trace --values 1,2,3,6,2,1 --block 3",
	.options = OPTION_BIT(OPTION_ROWS) | OPTION_BIT(OPTION_COLS) | OPTION_BIT(OPTION_BLOCK) |
                   OPTION_BIT(OPTION_VALUES) | OPTION_BIT(OPTION_ROW) | OPTION_BIT(OPTION_TRACE) |
                   OPTION_BIT(OPTION_DIM) | OPTIONS_COMMON,
	.defaults = {.rows = 64, .cols = 4096, .block = 1024, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.may_be_minus_infinity = "x",
	.provide = scores_provide,
	.fill = input_fill_softmax,
	.expect = softmax_expect,
	.sweep = sweep_softmax,
	.examine = trace_row,
	.add_json = add_json,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
