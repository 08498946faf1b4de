/*
 * The sizes of --sweep, as struct chapter's `sweep` wants them: each sets the problem of a step and is false when there is
 * no such step. A simulated device takes smaller ones than a GPU.
 */
#ifndef PROBLEM_SWEEP_H
#define PROBLEM_SWEEP_H

#include "problem/problem.h"

bool sweep_attention(size_t step, bool simulated, struct problem *problem); /* N from 128 to 1,024; 16,384 */
bool sweep_backward(size_t step, bool simulated, struct problem *problem);  /* N from 64 to 512; 16,384 */
bool sweep_softmax(size_t step, bool simulated, struct problem *problem);   /* C from 256 to 4,096; 65,536 */
bool sweep_matmul(size_t step, bool simulated, struct problem *problem);    /* m = n = k: 64 to 384; 256 to 4,096 */

#endif
