/*
 * The sizes of --sweep, as struct chapter's `sweep` wants them: each sets the problem of a step and is false when there is
 * no such step. A simulated device takes smaller ones (first below) than a GPU: `make` runs every chapter's in seconds.
 */
#ifndef PROBLEM_SWEEP_H
#define PROBLEM_SWEEP_H

#include "problem/problem.h"

bool sweep_attention(size_t step, bool simulated, struct problem *problem); /* N: 32 to 256; 128 to 16,384 */
bool sweep_backward(size_t step, bool simulated, struct problem *problem);  /* N: 16 to 128; 64 to 16,384 */
bool sweep_softmax(size_t step, bool simulated, struct problem *problem);   /* C: 256 to 4,096; 65,536 */
bool sweep_columns(size_t step, bool simulated, struct problem *problem);   /* C: 1 to 64, of 256 rows; of 2^20 */
bool sweep_matmul(size_t step, bool simulated, struct problem *problem);    /* m = n = k: 32 to 192; 256 to 4,096 */

#endif
