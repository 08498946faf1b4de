/*
 * Chapter 03, third of seven: matmul_tiled, C = A B. New: a block fetches 32 x 32 tiles of A and B together, once, into
 * shared memory. Each element fetched serves 32 threads, so 32 times fewer bytes are asked of global memory.
 *
 * Build and run: make build && ./tiled_matmul --kernel matmul_tiled. Limit: each store of A's tile takes 32
 * wavefronts, because its rows are 32 floats long. The tile is transposed to show this; this kernel would not need it.
 */
#include "tiles.cuh"

// Fetches columns first ... first+31 of A and the same rows of B, for this block's rows and columns of C. A thread
// fetches one element of each, neighbors from neighboring addresses; elements beyond the matrix become 0, which adds
// nothing. Step p of the product needs column p of A and row p of B: both tiles have p first, so A's is transposed.
//
//     A  i \ p  0 1 2 3        a_tile  p \ i  0 1 2 3        b_tile  p \ j  0 1 2 3
//        0      a b c d                0      a e . .                0      . . . .
//        1      e f g h                1      b f . .                1      . . . .
//
// The lanes of a warp fetch a b c d ... and write a column of a_tile: addresses one row of the tile apart. The bank of
// a_tile[p][i] is i: all lanes use one bank, 32 wavefronts for one store.
__device__ inline void load_tiles(
	const float *A, const float *B, int m, int n, int k, int first,
	float (*a_tile)[TILE], // [TILE][TILE], shared
	float (*b_tile)[TILE]) // [TILE][TILE], shared
{
	int x = threadIdx.x, y = threadIdx.y;
	int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;

	// task 03.load: a tile fetched by the block, its guards
	a_tile[x][y] = i < m && first + x < k ? A[(size_t)i * k + first + x] : 0.0f;
	b_tile[y][x] = first + y < k && j < n ? B[(size_t)(first + y) * n + j] : 0.0f;
	// end 03.load
}

// One element of C per thread; a loop over the tiles along k. Threads beyond the edge of C do not return, because they
// fetch elements for the others.
__global__ void matmul_tiled(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	__shared__ float a_tile[TILE][TILE];
	__shared__ float b_tile[TILE][TILE];
	int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;

	// task 03.tile: from tile to tile, two barriers
	float sum = 0.0f;
	for (int first = 0; first < k; first += TILE) {
		load_tiles(A, B, m, n, k, first, a_tile, b_tile);
		__syncthreads(); // without it a warp multiplies elements that others have not fetched yet
		for (int p = 0; p < TILE; p++)
			sum += a_tile[p][threadIdx.y] * b_tile[p][threadIdx.x];
		__syncthreads(); // without it fast warps fetch the next tile over the one slow warps still read
	}
	if (i < m && j < n) // the tile may extend beyond the edge of C
		C[(size_t)i * n + j] = sum;
	// end 03.tile
}

extern "C" cudaError_t launch_matmul_tiled(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, TILE), ceil_divide(a.m, TILE)), block(TILE, TILE);
	matmul_tiled<<<grid, block>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}
