/*
 * Chapter 00, fifth of eight: transpose, y = xᵀ. New: shared memory, through which the threads of a block pass numbers to
 * each other, and the barrier that this needs. Reads and writes of global memory are both coalesced; rows become columns
 * inside the tile.
 *
 * Build and run: make build && ./gpu --kernel transpose. Limit: each read of the tile takes 32 wavefronts instead
 * of one.
 */
#include "blocks.cuh"

// A block transposes one tile. Shared memory has 32 banks, 4 bytes wide; tile[r][c] lies in bank (32 r + c) mod 32 = c. A
// warp writes a row, each lane to its own bank: one wavefront. It reads a column, all lanes from one bank: 32 wavefronts.
__global__ void transpose(
	const float *x, // [R, C]
	float *y,       // [C, R]
	size_t rows, size_t cols)
{
	__shared__ float tile[TILE][TILE];
	size_t row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
	if (row < rows && column < cols) // the tile may extend beyond the edge of x
		tile[threadIdx.y][threadIdx.x] = x[row * cols + column];
	__syncthreads(); // without it a warp reads elements that other warps have not written yet
	row = blockIdx.y * TILE + threadIdx.x;
	column = blockIdx.x * TILE + threadIdx.y;
	if (row < rows && column < cols)
		y[column * rows + row] = tile[threadIdx.x][threadIdx.y];
}

extern "C" cudaError_t launch_transpose(struct matrix m)
{
	dim3 grid(blocks_for(m.cols, TILE), blocks_for(m.rows, TILE)), block(TILE, TILE);
	transpose<<<grid, block>>>(m.x, m.y, m.rows, m.cols);
	return cudaGetLastError();
}
