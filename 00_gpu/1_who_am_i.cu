/*
 * Chapter 00, first of eight: who_am_i. A kernel is a function that very many threads execute; each of them writes
 * which one it is. The first line of its body, which numbers the threads of all blocks, is in most kernels of the course.
 *
 * Build and run: make build && ./gpu --kernel who_am_i. Limit: it writes five numbers and computes none.
 */
#include "blocks.cuh"

// A grid is made of blocks, a block of threads. The hardware groups the threads of a block into warps of 32; a thread's
// place in its warp is its lane. Each element of a matrix of R x C has one thread; i numbers the threads of all blocks.
__global__ void who_am_i(
	float *grid, float *block, float *thread, float *warp, float *lane, // [R, C] each
	size_t count)                                                       // R C
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= count)
		return; // without it the last block writes past the end of the arrays
	grid[i] = gridDim.x;
	block[i] = blockIdx.x;
	thread[i] = threadIdx.x;
	warp[i] = threadIdx.x / WARP;
	lane[i] = threadIdx.x % WARP;
}

extern "C" cudaError_t launch_who_am_i(struct thread_ids p)
{
	who_am_i<<<blocks_for(p.count, THREADS), THREADS>>>(p.grid, p.block, p.thread, p.warp, p.lane, p.count);
	return cudaGetLastError();
}
