#include "report/stream.h"

#include "support/number.h"

#include <math.h>
#include <stdbool.h>

void stream_add_json(struct json *json, const struct stream *stream)
{
	json_open_array(json, "trace");
	for (size_t i = 0; i < stream->count; i++) {
		json_open_object(json, NULL);
		json_count(json, "block", i);
		json_number(json, "m", stream->steps[i].m);
		json_number(json, "l", stream->steps[i].l);
		json_number(json, "correction", stream->steps[i].correction);
		json_close_object(json);
	}
	json_close_array(json);
	json_open_array(json, "x");
	for (size_t j = 0; j < stream->cols; j++)
		json_number(json, NULL, stream->x[j]);
	json_close_array(json);
	json_open_array(json, "softmax");
	for (size_t j = 0; j < stream->cols; j++)
		json_number(json, NULL, stream->y[j]);
	json_close_array(json);
}

static void print_steps(const struct terminal *terminal, const struct stream *stream)
{
	struct table table = table_new("rrrrrr");
	table_row(&table, STYLE_DIM, "block|columns|its max|m|correction|l");
	float before = -INFINITY;
	for (size_t i = 0; i < stream->count; i++) {
		const struct stream_step *step = &stream->steps[i];
		size_t first = i * stream->block;
		size_t end = first + stream->block < stream->cols ? first + stream->block : stream->cols;
		float largest = -INFINITY;
		for (size_t j = first; j < end; j++)
			largest = fmaxf(largest, stream->x[j]);
		table_row(
			&table, step->m > before ? STYLE_BOLD : STYLE_PLAIN, "%zu|%zu-%zu|%.6g|%.6g|%.4g|%.5f", i,
			first, end - 1, (double)largest, without_nan_sign(step->m),
			without_nan_sign(step->correction), without_nan_sign(step->l));
		before = step->m;
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

void stream_print(const struct terminal *terminal, const struct stream *stream)
{
	terminal_print(terminal, STYLE_BOLD, "\nRow %zu in blocks of %zu", stream->row, stream->block);
	fprintf(terminal->out, "\nAfter each block: the largest score so far, what the sum so far was\n"
	                       "multiplied by, and the sum of exp(x - m) so far.\n\n");
	print_steps(terminal, stream);
	print_softmax(terminal, stream);
}
