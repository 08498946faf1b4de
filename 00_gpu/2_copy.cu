/*
 * Chapter 00, second of eight: copy, y = x. New: the threads read. Neighboring lanes read neighboring elements, so a warp
 * requests 128 consecutive bytes.
 *
 * Build and run: make build && ./gpu --kernel copy. Limit: no copy can move fewer bytes.
 */
#include "blocks.cuh"

// Memory is delivered in sectors of 32 bytes, eight floats. The 32 floats of a warp lie side by side: 4 sectors, in which
// every byte is used. The access is coalesced.
__global__ void copy(
	const float *x, // [R, C]
	float *y,       // [R, C]
	size_t count)   // R C
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= count)
		return; // without it the last block reads and writes past the end
	y[i] = x[i];
}

extern "C" cudaError_t launch_copy(struct matrix m)
{
	size_t count = m.rows * m.cols;
	copy<<<blocks_for(count, THREADS), THREADS>>>(m.x, m.y, count);
	return cudaGetLastError();
}
