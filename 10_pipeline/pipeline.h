/*
 * Chapter 10: FlashAttention-2 in fp32, the same requests in five kernels, each with a step more that can make it faster:
 * loads in flight, the numbering of lanes, the layout of shared memory, copies that run beside the products, and fewer
 * instructions.
 */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "attention.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Heads and batches are grid dimensions y and z, in fa2_fp32 part of x. Q, K, V and O begin at multiples of 16 bytes, as what cudaMalloc returns. */
enum { PIPELINE_MOST_DIM = 128, PIPELINE_MOST_HEADS = 65535 };

/* What the kernels were compiled with for this d: queries and keys of a block's tiles, its threads. */
struct pipeline_shape {
	int Br, Bc, threads;
};
struct pipeline_shape pipeline_shape(int d);

/*
 * Shared memory a block asks for: Q, K, V and P~, padded in in_flight and lanes. Over 48 KB the launchers opt
 * in; over the device's limit they return cudaErrorInvalidValue and launch nothing.
 */
size_t pipeline_padded_bytes(int d);
size_t pipeline_swizzled_bytes(int d);

/* Fill O and LSE. */
cudaError_t launch_in_flight(struct attention attention); /* a tile of K or V is in flight at once */
cudaError_t launch_lanes(struct attention attention);     /* lanes are numbered so that pairs share an address */
cudaError_t launch_swizzle(struct attention attention);   /* XOR in place of padding: no bank conflicts */
cudaError_t launch_async(struct attention attention);     /* the next K and V arrive beside the products */
cudaError_t launch_fa2_fp32(struct attention attention);  /* and fewer instructions beside the products */

#ifdef __cplusplus
}
#endif
#endif
