/*
 * Inputs of tensors whose rows are tokens, where H heads of queries share G of keys and values (problem/inputs.h has those
 * of [B, H, N, d]).
 */
#ifndef PROBLEM_ROW_INPUTS_H
#define PROBLEM_ROW_INPUTS_H

#include "problem/problem.h"

/*
 * Fills Q [N, H, d], K, V [M, G, d], x, residual, gate, up [N, H, d], weight [H, d] or W [H d, H d] in the
 * problem's input kind; scores are as large as those of the same kind in problem/inputs.h. The queries are the last N of the M
 * tokens.
 */
void input_fill_rows(const struct problem *problem, const char *tensor, float *values);

#endif
