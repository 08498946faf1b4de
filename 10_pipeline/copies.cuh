/*
 * Chapter 10, from 4_async.cu on: tiles that are copied from HBM to shared memory without a register, while the thread that
 * asked for them goes on.
 */
#pragma once

#include "shape.cuh"

#include <cuda_pipeline.h>

// cp.async: begins to copy BYTES from HBM to shared memory, to which both addresses are aligned. The first `there` of them
// are read, the others become 0. 16 bytes pass by L1 (.cg), which has no use for them; for 4 there is only .ca.
template <int BYTES>
__device__ void copy_async(float *to, const float *from, int there)
{
	static_assert(BYTES == 4 || BYTES == 16, "a copy has 4 bytes or 16");
	unsigned at = (unsigned)__cvta_generic_to_shared(to);
	if constexpr (BYTES == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
		             :
		             : "r"(at), "l"(from), "r"(there)
		             : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
		             :
		             : "r"(at), "l"(from), "r"(there)
		             : "memory");
}

// Begins to copy this thread's part of a tile of keys, WIDTH floats at a time; 32 / WIDTH threads share 32 columns of a row.
// Rows past the last and columns from d on become 0 and are not read. PLACE(row, c): where an element lies in the tile.
template <int D, int (*PLACE)(int, int), int WIDTH>
__device__ void copy_rows(const float *from, int rows, int d, float *tile)
{
	constexpr int ACROSS = 32 / WIDTH, AT_ONCE = shape<D>::THREADS / ACROSS;
#pragma unroll
	for (int i = 0; i < shape<D>::Bc / AT_ONCE; i++)
#pragma unroll
		for (int g = 0; g < D / 32; g++) {
			int row = threadIdx.x / ACROSS + i * AT_ONCE, c = threadIdx.x % ACROSS * WIDTH + g * 32;
			copy_async<4 * WIDTH>(
				tile + PLACE(row, c), from + (size_t)row * d + c,
				row < rows && c < d ? 4 * WIDTH : 0);
		}
}

// The same as one group of copies. A copy of 16 bytes needs rows that start at multiples of 16 bytes.
template <int D, int (*PLACE)(int, int)>
__device__ void copy_tile(
	const float *from, // [rows, d] in HBM
	int rows, int d, float *tile)
{
	if (d % 4 == 0)
		copy_rows<D, PLACE, 4>(from, rows, d, tile);
	else
		copy_rows<D, PLACE, 1>(from, rows, d, tile);
	__pipeline_commit();
}
