/*
 * Chapter 03, last of seven: matmul_registers, C = A B. New: shared memory is read 16 bytes at a time, 16 floats in four
 * loads. For that a thread's rows and columns are two groups of four neighbors.
 *
 * Build and run: make build && ./tiled_matmul --kernel matmul_registers. Limit: it does not fetch the next tile while
 * it computes this one, which libraries do (maxas, Gray 2014, has two buffers for it), and it leaves the tensor cores idle.
 */
#include "wide_tiles.cuh"

constexpr int VECTOR = 4;           // floats in 16 bytes
constexpr int HALF = SIDE * VECTOR; // a thread's second four rows and columns lie this far from its first

static_assert(OWN == 2 * VECTOR, "a thread takes its rows, and its columns, as two vectors of four");
static_assert(A_WIDTH % VECTOR == 0, "16-byte reads must start at multiples of 16 bytes");

// Who owns what of the 128 x 128 tile of C: thread (x, y) has four squares of 4 x 4, so that 8 neighboring lanes read
// 128 bytes of b_tile in a row. Eight columns in a row each would send lanes 0 and 4 to the same bank.
//
//             columns   0..3   4..7  ...  60..63 | 64..67  ...  124..127
//     rows   0..3      (0,0)  (1,0)  ... (15,0)  | (0,0)   ...  (15,0)
//           60..63     (0,15) ...                | (0,15)
//           64..67     (0,0)  ...                | (0,0)
static __device__ int own_place(int at, int which)
{
	return at * VECTOR + which % VECTOR + which / VECTOR * HALF;
}

// Two 16-byte reads.
static __device__ inline void read_eight(const float *row, int at, float values[OWN])
{
	float4 low = *(const float4 *)&row[own_place(at, 0)], high = *(const float4 *)&row[own_place(at, VECTOR)];
	values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
	values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
}

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
			int i = blockIdx.y * BM + own_place(y, r), j = blockIdx.x * BN + own_place(x, c);
			if (i < m && j < n) // the tile may extend beyond the edge of C
				C[(size_t)i * n + j] = sums[r][c];
		}
}

extern "C" cudaError_t launch_matmul_registers(struct matmul a)
{
	dim3 grid(ceil_divide(a.n, BN), ceil_divide(a.m, BM));
	matmul_registers<<<grid, THREADS>>>(a.A, a.B, a.C, a.m, a.n, a.k);
	return cudaGetLastError();
}
