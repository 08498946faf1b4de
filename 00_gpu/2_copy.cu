/*
 * Chapter 00, second of eight: copy, y = x. New: the threads read. Neighboring lanes read neighboring elements, so a warp
 * asks for 128 bytes in one piece.
 *
 * Build and run: make build && ./gpu --kernel copy. Honestly: nothing else that copies moves fewer bytes.
 */
#include "blocks.cuh"

// Memory is delivered in sectors of 32 bytes, eight floats. A warp's 32 floats lie side by side: 4 sectors, all of whose
// bytes are used. The access is coalesced.
__global__ void copy(
	const float *x, // [R, C]
	float *y,       // [R, C]
	size_t count)   // R C
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= count)
		return; // without it the last block reads and writes behind the end
	y[i] = x[i];
}

extern "C" cudaError_t launch_copy(struct matrix m)
{
	size_t count = m.rows * m.cols;
	copy<<<blocks_for(count, THREADS), THREADS>>>(m.x, m.y, count);
	return cudaGetLastError();
}
