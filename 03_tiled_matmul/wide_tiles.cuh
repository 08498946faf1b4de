/*
 * Chapter 03, for the kernels whose threads compute 8 x 8 elements: their tiles, how a block loads them, and the product.
 * The two kernels differ in which rows and columns a thread takes, and in how it reads them.
 */
#pragma once

#include "tiles.cuh"

constexpr int BM = MATMUL_REGISTER_TILE; // rows of C a block computes
constexpr int BN = MATMUL_REGISTER_TILE; // columns
constexpr int BK = 8;                    // steps of k that a tile holds
constexpr int SIDE = 16;                 // a block is SIDE x SIDE threads
constexpr int THREADS = SIDE * SIDE;
constexpr int OWN = BM / SIDE;  // a thread computes OWN x OWN elements
constexpr int A_WIDTH = BM + 4; // padded: the 8 rows that a warp stores to are 4 banks apart

static_assert(BM == BN, "a thread's share of C is a square");
static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "every thread fetches equally many elements");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "a thread stays in its column of a tile while it goes down");

// Loads columns first ... first+7 of A, 128 rows, and transposes them; and the same rows of B, 128 columns. A row of A
// has 8 floats in the tile: one sector.
inline __device__ void load_wide_tiles(
	const float *A, const float *B, int m, int n, int k, int first,
	float (*a_tile)[A_WIDTH], // [BK][BM + 4], shared
	float (*b_tile)[BN])      // [BK][BN], shared
{
	int t = threadIdx.x;
	// Unrolled, so that all loads are issued before the first store waits for one.
#pragma unroll
	for (int down = 0; down < BM; down += THREADS / BK) {
		int i = down + t / BK, row = blockIdx.y * BM + i, p = first + t % BK;
		a_tile[t % BK][i] = row < m && p < k ? A[(size_t)row * k + p] : 0.0f;
	}
#pragma unroll
	for (int down = 0; down < BK; down += THREADS / BN) {
		int q = down + t / BN, p = first + q, column = blockIdx.x * BN + t % BN;
		b_tile[q][t % BN] = p < k && column < n ? B[(size_t)p * n + column] : 0.0f;
	}
}

// Each kernel defines these: which eight rows, or columns, of a tile thread `at` of SIDE takes, and how it reads them.
static __device__ int own_place(int at, int which);
static __device__ void read_eight(const float *row, int at, float values[OWN]);

// 64 products for 16 floats of shared memory.
inline __device__ void multiply_wide_tiles(
	const float (*a_tile)[A_WIDTH], // [BK][BM + 4], shared
	const float (*b_tile)[BN],      // [BK][BN], shared
	int x, int y, float sums[OWN][OWN])
{
	// task 03.registers: 64 products for 16 floats
#pragma unroll
	for (int p = 0; p < BK; p++) {
		float a[OWN], b[OWN];
		read_eight(a_tile[p], y, a);
		read_eight(b_tile[p], x, b);
#pragma unroll
		for (int r = 0; r < OWN; r++)
#pragma unroll
			for (int c = 0; c < OWN; c++)
				sums[r][c] += a[r] * b[c];
	}
	// end 03.registers
}
