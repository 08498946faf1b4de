/*
 * Chapter 00, sixth of eight: transpose_padded, y = xᵀ. New: the rows of the tile are one float longer, so that no two
 * lanes of a warp use the same bank.
 *
 * Build and run: make build && ./gpu --kernel transpose_padded. Limit: 128 bytes of shared memory are never used.
 */
#include "blocks.cuh"

// A block transposes one tile. Shared memory has 32 banks, 4 bytes wide; tile[r][c] lies in bank (33 r + c) mod 32, which
// is (r + c) mod 32. The lanes of a row use 32 different banks, and so do those of a column: one wavefront each.
__global__ void transpose_padded(
	const float *x, // [R, C]
	float *y,       // [C, R]
	size_t rows, size_t cols)
{
	__shared__ float tile[TILE][TILE + 1];
	size_t row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
	if (row < rows && column < cols) // the tile may extend beyond the edge of x
		tile[threadIdx.y][threadIdx.x] = x[row * cols + column];
	__syncthreads(); // without it a warp reads elements that other warps have not written yet
	row = blockIdx.y * TILE + threadIdx.x;
	column = blockIdx.x * TILE + threadIdx.y;
	if (row < rows && column < cols)
		y[column * rows + row] = tile[threadIdx.x][threadIdx.y];
}

extern "C" cudaError_t launch_transpose_padded(struct matrix m)
{
	dim3 grid(blocks_for(m.cols, TILE), blocks_for(m.rows, TILE)), block(TILE, TILE);
	transpose_padded<<<grid, block>>>(m.x, m.y, m.rows, m.cols);
	return cudaGetLastError();
}
