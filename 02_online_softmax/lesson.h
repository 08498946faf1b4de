/* What chapter 02 shows besides: what each kernel asks for, and with --trace the stream of one row. */
#ifndef LESSON_H
#define LESSON_H

#include "harness.h"

/* As struct chapter's `examine`, `add_json` and `explain`. */
int lesson_trace(struct run_result *result, const struct named_values *inputs, struct error *error);
void lesson_add_json(struct json *json, const struct run_result *result);
void lesson_explain(const struct terminal *terminal, const struct run_result *result);

/* As struct chapter's `next`. */
extern const struct suggestion lesson_next[];

#endif
