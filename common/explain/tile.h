/* The numbers that the page of --explain computes a tile of S from. */
#ifndef EXPLAIN_TILE_H
#define EXPLAIN_TILE_H

#include "report/json.h"
#include "result.h"

/*
 * "tile":{"first_row","rows","keys","scale","Q","K","V"}: of the first head some queries, the first keys, and of their values
 * the first columns, row by row. Nothing where Q, K and V are not [B, H, N, d], or where attention has a variant.
 */
int explain_tile(struct json *json, const struct run_result *result, struct error *error);

#endif
