/*
 * Chapter 04: FlashAttention-1. S never exists in HBM: tiles of K and V stream past, and what is kept of a row of S
 * is its running maximum m and its running sum l.
 *
 *     Dao, Fu, Ermon, Rudra, Ré: FlashAttention, 2022, Algorithm 1.  https://arxiv.org/abs/2205.14135
 */
#ifndef FA1_H
#define FA1_H

#include "attention.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 65,536 registers an SM has, 255 a thread may need: at most 256 threads, each with a query row of its own. */
enum { FA1_MOST_ROW_THREADS = 256, FA1_MOST_DIM = 128 };

/*
 * Shared memory a block asks for. Over 48 KB the launchers opt in; over the device's limit they return
 * cudaErrorInvalidValue and launch nothing.
 */
static inline size_t fa1_paper_shared_bytes(int d, struct tile tile)
{
	return sizeof(float) * tile.Bc * (2 * (size_t)d + tile.Br);
}
size_t fa_row_shared_bytes(int d, struct tile tile); /* K and V tiles, columns padded to D, keys to a few */

/* Algorithm 1 as printed. Fills O, l, m. */
cudaError_t launch_fa1_paper(struct attention attention);

/* A thread owns a query row: Br threads a block, Br <= FA1_MOST_ROW_THREADS. Fills O and LSE. */
cudaError_t launch_fa1_row(struct attention attention);

/* One query in plain C, for --trace: what is known after each tile of keys. Key 0 is visible. */
struct trace_step {
	float m, l, correction;
};
void trace_row(
	const float *q, const float *K, const float *V, int N, int d, int visible, int Bc, float scale, float *s,
	struct trace_step *steps, float *O);

#ifdef __cplusplus
}
#endif
#endif
