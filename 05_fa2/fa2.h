/*
 * Chapter 05: FlashAttention-2. The outer loop of chapter 04's fa1_row is the grid: a block for each tile of query rows,
 * which keeps O, l and m on the chip and writes O and LSE = m + ln l once.
 *
 *     Dao: FlashAttention-2, 2023, Algorithm 1.  https://arxiv.org/abs/2307.08691
 */
#ifndef FA2_H
#define FA2_H

#include "attention.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 65,536 registers an SM has, 255 a thread may need: at most 256 threads, each with a query row of its own. */
enum { FA2_MOST_ROW_THREADS = 256, FA2_MOST_DIM = 128, FA2_MOST_HEADS = 65535 };

/* Keys whose scores a row of fa2_row takes in at once: O is rescaled that often. As keys_at_once() of row.cuh. */
static inline int fa2_row_keys_at_once(int d)
{
	return d <= 64 ? 8 : 4;
}

/* The tiles that the kernels after fa2_row were compiled with for this d: one warp's, and that of fa2_split_q. */
struct tile fa2_warp_tile(int d);
struct tile fa2_split_q_tile(int d);

/*
 * Shared memory a block asks for. Over 48 KB the launchers opt in; over the device's limit they return
 * cudaErrorInvalidValue and launch nothing.
 */
size_t fa_row_shared_bytes(int d, struct tile tile); /* K and V tiles, columns padded to D, keys to a few */
size_t fa2_tile_shared_bytes(int d);
size_t fa2_slab_shared_bytes(int d);
size_t fa2_split_q_shared_bytes(int d);

/* Fill O and LSE. A thread owns a query row: Br threads a block, Br <= FA2_MOST_ROW_THREADS. */
cudaError_t launch_fa2_row(struct attention attention);
/* Fill O and LSE, each with one thing changed. Up to fa2_slab a block is one warp. */
cudaError_t launch_fa2_tile(struct attention attention);    /* a lane has a small tile of scores in registers */
cudaError_t launch_fa2_slab(struct attention attention);    /* P~ through shared memory, rows padded */
cudaError_t launch_fa2_split_q(struct attention attention); /* four warps split the query tile */

#ifdef __cplusplus
}
#endif
#endif
