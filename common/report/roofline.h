/*
 * Where attention stands on a GPU's roofline, from formulas: the product Q Kᵀ as a kernel of its own, and whole attention
 * naive and fused. FLOP/byte against the ridge, the GPU's peak over its bandwidth: below it a kernel is bound by memory.
 */
#ifndef REPORT_ROOFLINE_H
#define REPORT_ROOFLINE_H

#include "report/json.h"
#include "report/table.h"
#include "result.h"

/* Both tables; nothing on a GPU whose roofs are not known. */
void roofline_print(const struct terminal *terminal, const struct run_result *result);

/* As struct chapter's `add_json`: "roofline":{"ridge_fp16","ridge_fp32","products":[...]} */
void roofline_add_json(struct json *json, const struct run_result *result);

#endif
