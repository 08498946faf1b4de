/*
 * The online softmax of one row, block after block: what was known after each, as a table and as JSON.
 */
#ifndef REPORT_STREAM_H
#define REPORT_STREAM_H

#include "report/json.h"
#include "report/table.h"

/* What a block did: the largest score so far, the sum of exp(x - m) so far, and what that sum was multiplied by before. */
struct stream_step {
	float m, l, correction;
};

struct stream {
	size_t row, cols, block, count; /* count = ceil(cols / block) steps */
	const float *x;                 /* [cols], the row */
	const float *y;                 /* [cols], its softmax, from the last step's m and l */
	const struct stream_step *steps;
};

void stream_print(const struct terminal *terminal, const struct stream *stream);

/* "trace":[{"block","m","l","correction"}], "x":[...], "softmax":[...] */
void stream_add_json(struct json *json, const struct stream *stream);

#endif
