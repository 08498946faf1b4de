/*
 * Chapter 03: the tiled matrix product. New since chapter 02: data that many threads need is fetched once, together,
 * into memory they share, and from there into registers. C = A B, five kernels; each changes one thing.
 *
 *     matmul_naive       a thread an element of C; the lanes of a warp go down a column: the wrong way
 *     matmul_coalesced   the lanes go along a row
 *     matmul_tiled       a block fetches 32 x 32 tiles of A and B into shared memory; each element serves 32 threads
 *     matmul_padded      one more float in each row of A's tile: no two lanes meet in a bank
 *     matmul_registers   a thread computes 8 x 8 elements from registers; shared memory is read 16 bytes at a time
 *
 * Build and run: make, or make DEVICE=cuda. Honestly: the last one is what a good library did ten years ago. It does
 * not fetch the next tile while it computes this one, and it leaves the tensor cores idle.
 */
#include "tiled_matmul.h"

constexpr int WARP = 32;
constexpr int TILE = MATMUL_TILE; // of C, of A and of B; a block has a thread for each element

static_assert(TILE == WARP, "a warp is one row of a tile: its lanes are neighbours in memory");
static_assert(TILE * TILE <= 1024, "a block has at most 1024 threads");

// Uncoalesced on purpose: threadIdx.x, which counts the lanes of a warp, is the row. The 32 lanes read A one row
// apart, that is k floats, and write C one row apart, n floats: 32 sectors of 32 bytes for 32 floats. B's element
// they share.
__global__ void matmul_naive(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	int i = blockIdx.x * TILE + threadIdx.x;
	int j = blockIdx.y * TILE + threadIdx.y;
	if (i >= m || j >= n)
		return; // the last blocks hang over the edge of C

	float sum = 0.0f;
	for (int p = 0; p < k; p++)
		sum += A[(size_t)i * k + p] * B[(size_t)p * n + j];
	C[(size_t)i * n + j] = sum;
}

// The one change: threadIdx.x is the column. The lanes share A's element and read B and write C side by side: 4
// sectors.
__global__ void matmul_coalesced(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	int i = blockIdx.y * TILE + threadIdx.y;
	int j = blockIdx.x * TILE + threadIdx.x;
	if (i >= m || j >= n)
		return; // as above

	float sum = 0.0f;
	for (int p = 0; p < k; p++)
		sum += A[(size_t)i * k + p] * B[(size_t)p * n + j];
	C[(size_t)i * n + j] = sum;
}

// Fetches columns first ... first+31 of A and the same rows of B, for this block's rows and columns of C. A thread
// fetches one element of each, neighbours from neighbouring addresses; what lies beyond the matrix becomes 0, which
// adds nothing. Step p of the product needs column p of A and row p of B: both tiles have p first, so A's lies on its
// side.
//
//     A  i \ p  0 1 2 3        a_tile  p \ i  0 1 2 3        b_tile  p \ j  0 1 2 3
//        0      a b c d                0      a e . .                0      . . . .
//        1      e f g h                1      b f . .                1      . . . .
//
// The lanes of a warp fetch a b c d ... and write a column of a_tile: addresses WIDTH floats apart.
template <int WIDTH>
__device__ void load_tiles(
	const float *A, const float *B, int m, int n, int k, int first,
	float (*a_tile)[WIDTH], // [TILE][WIDTH], shared
	float (*b_tile)[TILE])  // [TILE][TILE], shared
{
	int x = threadIdx.x, y = threadIdx.y;
	int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;

	// task 03.load: a tile fetched by the block, its guards
#ifndef HANDOUT
	// solution de3bb9d54f57
	a_tile[x][y] = i < m && first + x < k ? A[(size_t)i * k + first + x] : 0.0f;
	b_tile[y][x] = first + y < k && j < n ? B[(size_t)(first + y) * n + j] : 0.0f;
#else
	// TODO (about 2 lines): a_tile[x][y] = A[i, first + x] and b_tile[y][x] = B[first + y, j]; 0 beyond the
	// matrices.
	// Hint: a row of A has k numbers, a row of B has n. Two guards each: one for the row, one for the column.
	(void)A, (void)B, (void)m, (void)n, (void)k, (void)first, (void)a_tile, (void)b_tile, (void)i, (void)j;
#endif
	// end 03.load
}

// One element of C, from tile to tile along k. Every thread of the block comes here, also those beyond the edge of C:
// they fetch for the others.
template <int WIDTH>
__device__ void multiply_tiles(
	const float *A, const float *B, float *C, int m, int n, int k, float (*a_tile)[WIDTH], float (*b_tile)[TILE])
{
	int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;

	// task 03.tile: from tile to tile, two barriers
#ifndef HANDOUT
	// solution 79bbba0c1adb
	float sum = 0.0f;
	for (int first = 0; first < k; first += TILE) {
		load_tiles(A, B, m, n, k, first, a_tile, b_tile);
		__syncthreads(); // without it a warp multiplies elements that others have not fetched yet
		for (int p = 0; p < TILE; p++)
			sum += a_tile[p][threadIdx.y] * b_tile[p][threadIdx.x];
		__syncthreads(); // without it fast warps fetch the next tile over the one slow warps still read
	}
	if (i < m && j < n) // the tile may hang over the edge of C
		C[(size_t)i * n + j] = sum;
#else
	// TODO (about 10 lines): for each tile along k: fetch it, add TILE products of it to a sum; at the end C[i,
	// j].
	// Hint: the block needs two barriers a tile. What can go wrong between the last fetch and the first product?
	// And between the last product and the next fetch? C may end in the middle of this block.
	(void)A, (void)B, (void)C, (void)m, (void)n, (void)k, (void)a_tile, (void)b_tile, (void)i, (void)j;
#endif
	// end 03.tile
}

// Rows of 32 floats: an address and the one below it are in the same bank. A warp that writes a column of a_tile
// meets itself 32 times in one bank: 32 wavefronts for one store.
__global__ void matmul_tiled(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	__shared__ float a_tile[TILE][TILE];
	__shared__ float b_tile[TILE][TILE];
	multiply_tiles(A, B, C, m, n, k, a_tile, b_tile);
}

// The one change: rows of 33. The column now goes through all 32 banks.
//
//     bank of a_tile[p][i]      rows of 32: i                 rows of 33: (p + i) mod 32
__global__ void matmul_padded(
	const float *A, // [m, k]
	const float *B, // [k, n]
	float *C,       // [m, n]
	int m, int n, int k)
{
	__shared__ float a_tile[TILE][TILE + 1];
	__shared__ float b_tile[TILE][TILE];
	multiply_tiles(A, B, C, m, n, k, a_tile, b_tile);
}

constexpr int BM = MATMUL_REGISTER_TILE; // rows of C a block computes
constexpr int BN = MATMUL_REGISTER_TILE; // columns
constexpr int BK = 8;                    // steps of k that a tile holds
constexpr int SIDE = 16;                 // a block is SIDE x SIDE threads
constexpr int THREADS = SIDE * SIDE;
constexpr int OWN = BM / SIDE;      // a thread computes OWN x OWN elements
constexpr int A_WIDTH = BM + 4;     // padded
constexpr int VECTOR = 4;           // floats in 16 bytes
constexpr int HALF = SIDE * VECTOR; // a thread's second four rows and columns lie this far from its first

static_assert(BM == BN, "a thread's share of C is a square");
static_assert(OWN == 2 * VECTOR, "a thread takes its rows, and its columns, as two vectors of four");
static_assert(A_WIDTH % VECTOR == 0, "16-byte reads must start at multiples of 16 bytes");
static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "every thread fetches equally many elements");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "a thread stays in its column of a tile while it goes down");

// Columns first ... first+7 of A, 128 rows, on their side; and the same rows of B, 128 columns. A row of A's tile has
// 8 floats: one sector.
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
__device__ void
multiply_wide_tiles(const float (*a_tile)[A_WIDTH], const float (*b_tile)[BN], int x, int y, float sums[OWN][OWN])
{
	// task 03.registers: 64 products for 16 floats
#ifndef HANDOUT
	// solution 1ea7c73acaeb
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
#else
	// TODO (about 8 lines): for each of the BK steps: eight numbers of A's row, eight of B's, and their 64
	// products added to sums[r][c].
	// Hint: read_eight(row, at, values) reads four from `at` and four HALF further on. This thread's rows begin
	// at y * VECTOR, its columns at x * VECTOR. "#pragma unroll" before a loop keeps its arrays in registers.
	(void)a_tile, (void)b_tile, (void)x, (void)y, (void)sums;
#endif
	// end 03.registers
}

// Who owns what of the 128 x 128 tile of C: thread (x, y) four squares of 4 x 4, so that 8 neighbouring lanes read
// 128 bytes of b_tile in a row. Eight columns in a row each would send lanes 0 and 4 to the same bank.
//
//             columns   0..3   4..7  ...  60..63 | 64..67  ...  124..127
//     rows   0..3      (0,0)  (1,0)  ... (15,0)  | (0,0)   ...  (15,0)
//           60..63     (0,15) ...                | (0,15)
//           64..67     (0,0)  ...                | (0,0)
//
// Two blocks an SM, so that one computes while the other waits for HBM: at most 128 registers a thread.
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
		__syncthreads(); // both as in multiply_tiles
		multiply_wide_tiles(a_tile, b_tile, x, y, sums);
		__syncthreads();
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

static int ceil_divide(int count, int size)
{
	return count / size + (count % size != 0);
}

extern "C" cudaError_t launch_matmul_naive(struct matmul a)
{
	dim3 grid(ceil_divide(a.m, TILE), ceil_divide(a.n, TILE)), block(TILE, TILE);
	matmul_naive<<<grid, block>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}

extern "C" cudaError_t launch_matmul_coalesced(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, TILE), ceil_divide(a.m, TILE)), block(TILE, TILE);
	matmul_coalesced<<<grid, block>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}

extern "C" cudaError_t launch_matmul_tiled(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, TILE), ceil_divide(a.m, TILE)), block(TILE, TILE);
	matmul_tiled<<<grid, block>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}

extern "C" cudaError_t launch_matmul_padded(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, TILE), ceil_divide(a.m, TILE)), block(TILE, TILE);
	matmul_padded<<<grid, block>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}

extern "C" cudaError_t launch_matmul_registers(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, BN), ceil_divide(a.m, BM));
	matmul_registers<<<grid, THREADS>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}
