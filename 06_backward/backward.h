/*
 * Chapter 06: the gradients of attention, with and without the N x N matrices.
 *
 *     forward     S = scale Q K^T     P = exp(S - LSE)     O = P V
 *     backward    dV = P^T dO   dP = dO V^T   dS = P o (dP - delta)   dQ = scale dS K   dK = scale dS^T Q
 *
 * with delta_i = sum_c dO_ic O_ic, D in the paper. dO is the gradient of a loss with respect to O; it comes from whatever follows.
 */
#ifndef BACKWARD_H
#define BACKWARD_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* Device pointers, fp32, row-major. The caller owns all of it. */
struct backward {
	const float *Q, *K, *V, *dO; /* [B, H, N, d] */
	float *O;                    /* [B, H, N, d], by attention_forward, then read */
	float *LSE;          /* [B, H, N], by attention_forward, then read: ln sum_j exp(S_ij), -inf if no key */
	float *dQ, *dK, *dV; /* [B, H, N, d] */
	float *delta;        /* [B, H, N], scratch of split and atomic */
	float *P, *dP, *dS;  /* [B, H, N, N], scratch of naive */
	int heads;           /* B H: every head of every sequence is a problem of its own */
	int N, d;
	int tile; /* rows of a query tile and of a key tile, 32 or 64; naive has none */
	bool causal;
	float scale;
};

/*
 * Each is in the file of its name: forward.cu, naive.cu, split.cu, atomic.cu. Each allocates and copies nothing, and
 * returns the first launch error. Any N >= 1, any 1 <= d <= 128. A tile that needs more shared memory than the device
 * has, or is neither 32 nor 64, is cudaErrorInvalidValue.
 */
cudaError_t attention_forward(struct backward backward); /* writes O and LSE: what the other three take as given */
cudaError_t attention_backward_naive(struct backward backward);
cudaError_t attention_backward_split(struct backward backward);  /* the three below, one after the other */
cudaError_t attention_backward_atomic(struct backward backward); /* sets dQ to 0 itself, then adds */

/* The kernels of split, in preprocess.cu, dkdv.cu and dq.cu. Atomic begins with the first of them, too. */
cudaError_t launch_preprocess(struct backward backward); /* delta from dO and O */
cudaError_t launch_dkdv(struct backward backward);       /* dK and dV; reads delta */
cudaError_t launch_dq(struct backward backward);         /* dQ; reads delta */

/* The tile a head dimension gets unless one is asked for: it fits 99 KB of shared memory. In forward.cu. */
int backward_default_tile(int d);

/* Shared memory of a block, bytes: the largest of the kernels with tiles. All of them ask for it. In forward.cu. */
size_t backward_shared_bytes(int d, int tile);

#ifdef __cplusplus
}
#endif
#endif
