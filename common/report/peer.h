/*
 * cuBLAS SGEMM on the same matrix product: what a chapter's best kernel is measured against, on a GPU on which cuBLAS is
 * installed. It is looked for when the program runs. Without it, on the simulated device, or with NO_PEER in the environment (loading
 * it takes seconds), there is no peer and nothing is missing.
 */
#ifndef REPORT_PEER_H
#define REPORT_PEER_H

#include "report/json.h"
#include "report/table.h"
#include "result.h"

/* As struct chapter's `examine`: times C = A B of the problem's m, n, k; leaves the time in result->findings. */
int peer_examine(struct run_result *result, const struct named_values *inputs, struct error *error);

/* As struct chapter's `add_json`: "peers":[{"name":"cublas_sgemm","time":{...}}] */
void peer_add_json(struct json *json, const struct run_result *result);

/* A line: its time, and how near the last kernel comes. Nothing without a peer. */
void peer_print(const struct terminal *terminal, const struct run_result *result);

#endif
