/*
 * Chapter 04, shared by its launchers: which shapes are allowed, which compiled kernel fits d, and how a kernel gets
 * its shared memory.
 */
#pragma once

#include "fa1.h"

constexpr int WARP = 32;

__host__ __device__ inline int round_up(int value, int step)
{
	return (value + step - 1) / step * step;
}

inline bool usable(const struct attention &a)
{
	return a.B >= 1 && a.H >= 1 && a.N >= 1 && a.d >= 1 && a.d <= FA1_MOST_DIM && a.tile.Br >= 1 &&
	       a.tile.Bc >= 1;
}

// One thread per query row: a block has Br threads.
inline bool rows_fit(struct tile tile)
{
	return tile.Br <= FA1_MOST_ROW_THREADS;
}

// Kernels are compiled for four sizes D of arrays in registers; this is the smallest that holds d columns.
template <class Kernel>
Kernel *kernel_for(int d, Kernel *of_32, Kernel *of_64, Kernel *of_96, Kernel *of_128)
{
	return d <= 32 ? of_32 : d <= 64 ? of_64 : d <= 96 ? of_96 : of_128;
}

// A kernel must request shared memory above 48 KB; a size above the device's limit is refused here.
template <class Kernel>
cudaError_t opt_in(Kernel *kernel, size_t bytes)
{
	return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}
