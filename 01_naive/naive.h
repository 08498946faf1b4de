/*
 * Chapter 01: attention as the three kernels of its definition, with S and P in HBM.
 *
 *     S = scale Q K^T        P = softmax(S)        O = P V
 */
#ifndef NAIVE_H
#define NAIVE_H

#include "attention.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The three kernels, one after the other; S and P are scratch that they fill. Any N >= 1 and any 1 <= d <= 1024. */
cudaError_t naive_attention(struct attention attention);

#ifdef __cplusplus
}
#endif
#endif
