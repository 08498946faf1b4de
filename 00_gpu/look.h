/*
 * Chapter 00: what who_am_i wrote for some elements. Looked at where that kernel is run alone, with --verbose and --json.
 */
#ifndef LOOK_H
#define LOOK_H

#include "harness.h"

/* As struct chapter's `examine` and `add_json`. */
int look_examine(struct run_result *result, const struct named_values *inputs, struct error *error);
void look_add_json(struct json *json, const struct run_result *result);

/* The table; nothing where nothing was looked at. */
void look_print(const struct terminal *terminal, const struct run_result *result);

#endif
