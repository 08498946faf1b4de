/*
 * Chapter 01: attention as the three kernels of its definition, with S and P in HBM.
 *
 *     S = scale Q K^T        P = softmax(S)        O = P V
 */
#ifndef NAIVE_H
#define NAIVE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* Device pointers, fp32, row-major. The caller owns all of it; S and P are scratch that the kernels fill. */
struct attention {
	const float *Q, *K, *V; /* [B, H, N, d] */
	float *S, *P;           /* [B, H, N, N] */
	float *O;               /* [B, H, N, d] */
	int heads;              /* B H: every head of every sequence is a problem of its own */
	int N, d;
	bool causal;
	float scale;
};

/* The three kernels, one after the other. Any N >= 1 and any 1 <= d <= 1024. */
cudaError_t naive_attention(struct attention attention);

#ifdef __cplusplus
}
#endif
#endif
