/*
 * Chapter 03, fifth of seven: matmul_column, C = A B. New: a thread computes 8 elements of a column of C and keeps them in
 * registers, so that a float of B, read once, is used in eight products. A block has 32 x 4 threads for the same 32 x 32 tiles.
 *
 * Build and run: make build && ./tiled_matmul --kernel matmul_column. Limit: each product still reads its own float of A.
 */
#include "tiles.cuh"

constexpr int OWN = 8;           // elements of C that a thread computes
constexpr int DOWN = TILE / OWN; // rows of threads; a thread's elements are so many rows apart

static_assert(DOWN * OWN == TILE, "the threads of a column share its rows evenly");

// The same tiles as matmul_padded's: A's is transposed, with rows of 33 floats. A thread fetches 8 elements of each.
__device__ inline void load_shares(
	const float *A, const float *B, int m, int n, int k, int first,
	float (*a_tile)[TILE + 1], // [TILE][TILE + 1], shared
	float (*b_tile)[TILE])     // [TILE][TILE], shared
{
	int x = threadIdx.x, j = blockIdx.x * TILE + x;
#pragma unroll
	for (int y = threadIdx.y; y < TILE; y += DOWN) {
		int i = blockIdx.y * TILE + y, p = first + y;
		bool in_a = i < m && first + x < k, in_b = p < k && j < n;
		a_tile[x][y] = in_a ? A[(size_t)i * k + first + x] : 0.0f;
		b_tile[y][x] = in_b ? B[(size_t)p * n + j] : 0.0f;
	}
}

__global__ void __launch_bounds__(TILE *DOWN) matmul_column(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	__shared__ float a_tile[TILE][TILE + 1];
	__shared__ float b_tile[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y;
	float sums[OWN] = {};

	for (int first = 0; first < k; first += TILE) {
		load_shares(A, B, m, n, k, first, a_tile, b_tile);
		__syncthreads(); // without it a thread reads elements that others have not fetched yet
		for (int p = 0; p < TILE; p++) {
			float b = b_tile[p][x]; // one read for eight products
#pragma unroll
			for (int r = 0; r < OWN; r++)
				sums[r] += a_tile[p][y + r * DOWN] * b;
		}
		__syncthreads(); // without it the next tile is written over the one others still read
	}
#pragma unroll
	for (int r = 0; r < OWN; r++) {
		int i = blockIdx.y * TILE + y + r * DOWN, j = blockIdx.x * TILE + x;
		if (i < m && j < n) // the tile may extend beyond the edge of C
			C[(size_t)i * n + j] = sums[r];
	}
}

extern "C" cudaError_t launch_matmul_column(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, TILE), ceil_divide(a.m, TILE)), block(TILE, DOWN);
	matmul_column<<<grid, block>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}
