/*
 * Chapter 03, fifth of five: matmul_registers, C = A B. New: a thread computes 8 x 8 elements of C and keeps them in
 * registers. For that a block computes 128 x 128 elements, a tile holds 8 steps of k instead of 32, shared memory is read
 * 16 bytes at a time, 16 floats for 64 products, and the padding is 4 floats instead of 1.
 *
 * Build and run: make build && ./tiled_matmul --kernel matmul_registers. Honestly: it does not fetch the next tile while
 * it computes this one, which libraries do (maxas, Gray 2014, has two buffers for it), and it leaves the tensor cores idle.
 */
#include "tiles.cuh"

constexpr int BM = MATMUL_REGISTER_TILE; // rows of C a block computes
constexpr int BN = MATMUL_REGISTER_TILE; // columns
constexpr int BK = 8;                    // steps of k that a tile holds
constexpr int SIDE = 16;                 // a block is SIDE x SIDE threads
constexpr int THREADS = SIDE * SIDE;
constexpr int OWN = BM / SIDE;      // a thread computes OWN x OWN elements
constexpr int A_WIDTH = BM + 4;     // padded: the 8 rows that a warp stores to are 4 banks apart
constexpr int VECTOR = 4;           // floats in 16 bytes
constexpr int HALF = SIDE * VECTOR; // a thread's second four rows and columns lie this far from its first

static_assert(BM == BN, "a thread's share of C is a square");
static_assert(OWN == 2 * VECTOR, "a thread takes its rows, and its columns, as two vectors of four");
static_assert(A_WIDTH % VECTOR == 0, "16-byte reads must start at multiples of 16 bytes");
static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "every thread fetches equally many elements");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "a thread stays in its column of a tile while it goes down");

// Fetches columns first ... first+7 of A, 128 rows, laid on their side; and the same rows of B, 128 columns. A row of A
// has 8 floats in the tile: one sector.
__device__ void load_wide_tiles(
	const float *A, const float *B, int m, int n, int k, int first,
	float (*a_tile)[A_WIDTH], // [BK][BM + 4], shared
	float (*b_tile)[BN])      // [BK][BN], shared
{
	int t = threadIdx.x;
	// Unrolled, all loads are on their way before the first store waits for one.
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

// Eight floats of a tile's row as two 16-byte reads: four from `at`, four from `at` + HALF.
__device__ void read_eight(const float *row, int at, float values[OWN])
{
	float4 low = *(const float4 *)&row[at], high = *(const float4 *)&row[at + HALF];
	values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
	values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
}

// 64 products for 16 floats of shared memory, in four reads.
__device__ void multiply_wide_tiles(
	const float (*a_tile)[A_WIDTH], // [BK][BM + 4], shared
	const float (*b_tile)[BN],      // [BK][BN], shared
	int x, int y, float sums[OWN][OWN])
{
	// task 03.registers: 64 products for 16 floats
#pragma unroll
	for (int p = 0; p < BK; p++) {
		float a[OWN], b[OWN];
		read_eight(a_tile[p], y * VECTOR, a);
		read_eight(b_tile[p], x * VECTOR, b);
#pragma unroll
		for (int r = 0; r < OWN; r++)
#pragma unroll
			for (int c = 0; c < OWN; c++)
				sums[r][c] += a[r] * b[c];
	}
	// end 03.registers
}

// Who owns what of the 128 x 128 tile of C: thread (x, y) has four squares of 4 x 4, so that 8 neighboring lanes read
// 128 bytes of b_tile in a row. Eight columns in a row each would send lanes 0 and 4 to the same bank.
//
//             columns   0..3   4..7  ...  60..63 | 64..67  ...  124..127
//     rows   0..3      (0,0)  (1,0)  ... (15,0)  | (0,0)   ...  (15,0)
//           60..63     (0,15) ...                | (0,15)
//           64..67     (0,0)  ...                | (0,0)
//
// Two blocks per SM, so that one computes while the other waits for HBM: at most 128 registers per thread.
__global__ void __launch_bounds__(THREADS, 2) matmul_registers(
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
			int i = blockIdx.y * BM + y * VECTOR + r % VECTOR + r / VECTOR * HALF;
			int j = blockIdx.x * BN + x * VECTOR + c % VECTOR + c / VECTOR * HALF;
			if (i < m && j < n) // the tile may hang over the edge of C
				C[(size_t)i * n + j] = sums[r][c];
		}
}

extern "C" cudaError_t launch_matmul_registers(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, BN), ceil_divide(a.m, BM));
	matmul_registers<<<grid, THREADS>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}
