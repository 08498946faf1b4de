/*
 * Chapter 05, shared by its launchers: which shapes are allowed, which compiled kernel fits d, and how a kernel gets
 * its shared memory.
 */
#pragma once

#include "fa2.h"

constexpr int WARP = 32;

__host__ __device__ inline int round_up(int value, int step)
{
	return (value + step - 1) / step * step;
}

inline bool usable(const struct attention &a)
{
	return a.B >= 1 && a.H >= 1 && a.B <= FA2_MOST_HEADS && a.H <= FA2_MOST_HEADS && a.N >= 1 && a.d >= 1 &&
	       a.d <= FA2_MOST_DIM;
}

// One thread per query row: a block has Br threads.
inline bool rows_fit(struct tile tile)
{
	return tile.Br >= 1 && tile.Br <= FA2_MOST_ROW_THREADS && tile.Bc >= 1;
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
cudaError_t opt_in(Kernel *kernel, size_t bytes)
{
	return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

// Launches a kernel with register tiles: one block per Br rows.
template <class Kernel>
cudaError_t launch_tiles(Kernel *kernel, const struct attention &a, int Br, int threads, size_t bytes)
{
	if (!usable(a))
		return cudaErrorInvalidValue;
	dim3 grid(round_up(a.N, Br) / Br, a.H, a.B);
	cudaError_t status = opt_in(kernel, bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<grid, threads, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.causal, a.scale);
	return cudaGetLastError();
}
