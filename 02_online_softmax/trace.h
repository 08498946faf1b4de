/*
 * --trace: every update of (m, l, correction) of one row, made on the device by softmax_online's own loop, and the
 * softmax that follows from the last of them.
 */
#ifndef TRACE_H
#define TRACE_H

#include "harness.h"

/* With --trace, traces row --row and leaves it in result->findings. As struct chapter's `examine`. */
int trace_row(struct run_result *result, const struct named_values *inputs, struct error *error);

/* "trace":[{"block","m","l","correction"}] and "softmax":[...]; an m of -inf is null, JSON has no word for it. */
void trace_add_json(struct json *json, const struct run_result *result);

void trace_print(const struct terminal *terminal, const struct run_result *result);

#endif
