/*
 * Chapter 10, shared by its launchers: which shapes are allowed, which compiled kernel fits d, and how a kernel gets its
 * shared memory.
 */
#pragma once

#include "pipeline.h"

constexpr int WARP = 32;

inline bool usable(const struct attention &a)
{
	return a.B >= 1 && a.H >= 1 && a.B <= PIPELINE_MOST_HEADS && a.H <= PIPELINE_MOST_HEADS && a.N >= 1 &&
	       a.d >= 1 && a.d <= PIPELINE_MOST_DIM;
}

// Kernels are compiled for four sizes D of arrays in registers. Returns the argument for the smallest D that holds d
// columns: a kernel, or a size that it needs.
template <class Kernel>
Kernel kernel_for(int d, Kernel of_32, Kernel of_64, Kernel of_96, Kernel of_128)
{
	return d <= 32 ? of_32 : d <= 64 ? of_64 : d <= 96 ? of_96 : of_128;
}

// A kernel must request shared memory above 48 KB; a size above the device's limit is refused here.
template <class Kernel>
cudaError_t launch_tiles(Kernel *kernel, const struct attention &a, dim3 grid, size_t bytes)
{
	if (!usable(a))
		return cudaErrorInvalidValue;
	cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<grid, pipeline_shape(a.d).threads, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.causal, a.scale);
	return cudaGetLastError();
}

// One block per tile of queries, per head, per batch.
inline int tiles_of_queries(const struct attention &a)
{
	int Br = pipeline_shape(a.d).Br;
	return (a.N + Br - 1) / Br;
}
