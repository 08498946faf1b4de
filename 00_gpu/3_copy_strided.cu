/*
 * Chapter 00, third of eight: copy_strided, y = x. New: the same copy, but the threads are numbered down the columns, so
 * neighboring lanes read elements one row apart.
 *
 * Build and run: make build && ./gpu --kernel copy_strided. Limit: it requests the same bytes as copy, and up to eight
 * times as many are delivered.
 */
#include "blocks.cuh"

// The 32 floats of a warp lie C floats apart. From C = 8 on each lies in a sector of its own: 32 sectors of 32 bytes are
// delivered, and 4 bytes of each are used.
__global__ void copy_strided(
	const float *x, // [R, C]
	float *y,       // [R, C]
	size_t rows, size_t cols)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	size_t row = i % rows, column = i / rows;
	if (column >= cols)
		return; // without it the last block reads and writes past the end
	y[row * cols + column] = x[row * cols + column];
}

extern "C" cudaError_t launch_copy_strided(struct matrix m)
{
	copy_strided<<<blocks_for(m.rows * m.cols, THREADS), THREADS>>>(m.x, m.y, m.rows, m.cols);
	return cudaGetLastError();
}
