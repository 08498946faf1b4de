/*
 * Chapter 03, sixth of seven: matmul_square, C = A B. New: a thread computes 8 x 8 elements of C, so that a float of A is used
 * in eight products as well. With 256 threads a block then computes 128 x 128 elements, and a tile holds 8 steps of k instead of
 * 32, which 256 threads fetch with 8 loads each. The padding is 4 floats, because a warp now stores to 8 rows of A's tile, 4
 * floats to each.
 *
 * Build and run: make build && ./tiled_matmul --kernel matmul_square. Limit: it reads 16 floats of shared memory one by one,
 * in 16 loads for 64 multiply-adds.
 */
#include "wide_tiles.cuh"

// Who owns what of the 128 x 128 tile of C: thread (x, y) has every 16th row, from y on, and every 16th column, from x on.
// Neighboring lanes read neighboring floats of b_tile.
static __device__ int own_place(int at, int which)
{
	return at + which * SIDE;
}

static __device__ inline void read_eight(const float *row, int at, float values[OWN])
{
#pragma unroll
	for (int which = 0; which < OWN; which++)
		values[which] = row[own_place(at, which)];
}

// Two blocks per SM, so that one computes while the other waits for HBM: at most 128 registers per thread.
__global__ void __launch_bounds__(THREADS, 2) matmul_square(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	__shared__ __align__(16) float a_tile[BK][A_WIDTH];
	__shared__ __align__(16) float b_tile[BK][BN];
	int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
	float sums[OWN][OWN] = {};

	for (int first = 0; first < k; first += BK) {
		load_wide_tiles(A, B, m, n, k, first, a_tile, b_tile);
		__syncthreads(); // without it a thread reads elements that others have not fetched yet
		multiply_wide_tiles(a_tile, b_tile, x, y, sums);
		__syncthreads(); // without it the next tile is written over the one others still read
	}
#pragma unroll
	for (int r = 0; r < OWN; r++)
#pragma unroll
		for (int c = 0; c < OWN; c++) {
			int i = blockIdx.y * BM + own_place(y, r), j = blockIdx.x * BN + own_place(x, c);
			if (i < m && j < n) // the tile may extend beyond the edge of C
				C[(size_t)i * n + j] = sums[r][c];
		}
}

extern "C" cudaError_t launch_matmul_square(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, BN), ceil_divide(a.m, BM));
	matmul_square<<<grid, THREADS>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}
