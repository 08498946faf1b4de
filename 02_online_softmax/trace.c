#include "trace.h"

#include "online_softmax.h"
#include "scores.h"
#include "support/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trace {
	size_t cols, block, count;
	float *x;                /* [cols], the row */
	float *y;                /* [cols], its softmax, from the final m and l */
	struct update updates[]; /* [count] */
};

/* Everything in one piece of memory, which the harness frees. */
int trace_row(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	const struct problem *problem = &result->problem;
	if (!result->options->trace)
		return 0;
	size_t cols = problem->cols, block = problem->block, count = (cols + block - 1) / block;
	struct trace *trace = malloc(sizeof *trace + count * sizeof *trace->updates + 2 * cols * sizeof(float));
	if (!trace)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the trace");
	*trace = (struct trace){.cols = cols, .block = block, .count = count};
	trace->x = (float *)&trace->updates[count];
	trace->y = trace->x + cols;
	memcpy(trace->x, find_values(inputs, "x") + scores_row(problem) * cols, cols * sizeof(float));

	struct device_memory memory = {.count = 0};
	float *x = device_allocate(&memory, "x", cols * sizeof(float));
	struct update *updates = (void *)device_allocate(&memory, "updates", count * sizeof *updates);
	CUDA_CHECK(cudaMemcpy(x, trace->x, cols * sizeof(float), cudaMemcpyHostToDevice));
	CUDA_CHECK(launch_softmax_trace(
		(struct softmax){.x = x, .rows = 1, .cols = (int)cols, .block = (int)block}, 0, updates));
	CUDA_CHECK(cudaMemcpy(trace->updates, updates, count * sizeof *updates, cudaMemcpyDeviceToHost));
	device_free_all(&memory);

	struct update last = trace->updates[count - 1];
	for (size_t j = 0; j < cols; j++)
		trace->y[j] =
			last.l > 0.0f ? (float)softmax_weight(trace->x[j], last.m, problem->variant) / last.l : 0.0f;
	result->findings = trace;
	return 0;
}

void trace_add_json(struct json *json, const struct run_result *result)
{
	const struct trace *trace = result->findings;
	if (!trace)
		return;
	json_open_array(json, "trace");
	for (size_t i = 0; i < trace->count; i++) {
		json_open_object(json, NULL);
		json_count(json, "block", i);
		json_number(json, "m", trace->updates[i].m);
		json_number(json, "l", trace->updates[i].l);
		json_number(json, "correction", trace->updates[i].correction);
		json_close_object(json);
	}
	json_close_array(json);
	json_open_array(json, "x");
	for (size_t j = 0; j < trace->cols; j++)
		json_number(json, NULL, trace->x[j]);
	json_close_array(json);
	json_open_array(json, "softmax");
	for (size_t j = 0; j < trace->cols; j++)
		json_number(json, NULL, trace->y[j]);
	json_close_array(json);
}

static void print_updates(const struct terminal *terminal, const struct trace *trace)
{
	struct table table = table_new("rrrrrr");
	table_row(&table, STYLE_DIM, "block|columns|its max|m|correction|l");
	float before = -INFINITY;
	for (size_t i = 0; i < trace->count; i++) {
		const struct update *update = &trace->updates[i];
		size_t first = i * trace->block;
		size_t end = first + trace->block < trace->cols ? first + trace->block : trace->cols;
		float largest = -INFINITY;
		for (size_t j = first; j < end; j++)
			largest = fmaxf(largest, trace->x[j]);
		table_row(
			&table, update->m > before ? STYLE_BOLD : STYLE_PLAIN, "%zu|%zu-%zu|%.6g|%.6g|%.4g|%.5f", i,
			first, end - 1, (double)largest, without_nan_sign(update->m),
			without_nan_sign(update->correction), without_nan_sign(update->l));
		before = update->m;
	}
	table_print(&table, terminal);
}

/* All weights of a short row, the largest ones of a long one. */
static void print_softmax(const struct terminal *terminal, const struct trace *trace)
{
	enum { SHOWN = 6 };
	FILE *out = terminal->out;
	if (trace->cols <= SHOWN) {
		fprintf(out, "\nsoftmax  ");
		for (size_t j = 0; j < trace->cols; j++)
			fprintf(out, " %.6f", without_nan_sign(trace->y[j]));
		fputc('\n', out);
		return;
	}
	fprintf(out, "\nThe %d largest weights of the softmax\n", SHOWN);
	struct table table = table_new("rrr");
	table_row(&table, STYLE_DIM, "column|x|y");
	for (size_t shown = 0, last = trace->cols; shown < SHOWN; shown++) {
		size_t best = trace->cols; /* the next in descending order; of equal ones, the next column */
		for (size_t j = 0; j < trace->cols; j++) {
			bool after = last == trace->cols || trace->y[j] < trace->y[last] ||
			             (trace->y[j] == trace->y[last] && j > last);
			if (after && (best == trace->cols || trace->y[j] > trace->y[best]))
				best = j;
		}
		if (best == trace->cols)
			break; /* the others are NaN */
		table_row(
			&table, STYLE_PLAIN, "%zu|%.6g|%.6f", best, (double)trace->x[best],
			without_nan_sign(trace->y[best]));
		last = best;
	}
	table_print(&table, terminal);
}

void trace_print(const struct terminal *terminal, const struct run_result *result)
{
	const struct trace *trace = result->findings;
	terminal_print(terminal, STYLE_BOLD, "\nRow %zu in blocks of %zu", result->problem.row, trace->block);
	fprintf(terminal->out, "\nAfter each block: the largest score so far, what the sum so far was\n"
	                       "multiplied by, and the sum of exp(x - m) so far.\n\n");
	print_updates(terminal, trace);
	print_softmax(terminal, trace);
}
