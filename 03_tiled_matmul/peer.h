/*
 * cuBLAS SGEMM on the same problem: what matmul_registers is measured against, on a GPU, when cuBLAS is installed.
 * Without it, or on the simulated device, there is no peer and nothing is missing.
 */
#ifndef PEER_H
#define PEER_H

#include "harness.h"

/* As struct chapter's `examine`: times the peer and leaves it in result->findings; nothing when there is none. */
int peer_examine(struct run_result *result, const struct named_values *inputs, struct error *error);

/* "peers":[{"name":"cublas_sgemm","time":{...}}] */
void peer_add_json(struct json *json, const struct run_result *result);

/* The peer's time; NULL when there is none. */
const struct time_summary *peer_time(const struct run_result *result);

#endif
