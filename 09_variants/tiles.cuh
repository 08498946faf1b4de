/*
 * Tiles of rows, as chapter 06 has them: from global to shared memory, multiplied, and from registers back; and the launch
 * of a kernel with tiles.
 *
 * A block has TILE rows of its own (keys in dkdv, queries in forward and dq) and loads tiles of TILE rows of the
 * other kind, one after another. A warp owns 16 of the block's rows; its lanes are a grid of 4 x 8:
 *
 *     own rows         lane_column 0  1  2  3  4  5  6  7         a lane of column i has the streamed rows i, i + 8, ...,
 *     0, 4, 8, 12             lane 0  1  4  5  8  9 12 13         or the columns 4 i ... 4 i + 3 of each 32 of d
 *     1, 5, 9, 13                  2  3  6  7 10 11 14 15
 *     2, 6, 10, 14                16 17 20 21 24 25 28 29
 *     3, 7, 11, 15                18 19 22 23 26 27 30 31
 *
 * Bits 1 and 4 of a lane's number are the row, bits 0, 2 and 3 the column. So lanes n and n ^ 1 (0 and 1, 2 and 3, ...) have
 * the same own rows, n and n ^ 2 (0 and 2, 1 and 3, ...) the same streamed rows and columns: the lanes agree in pairs, and a
 * load of 16 bytes takes two passes of 16 lanes, not four of 8 (chapter 05).
 *
 * In a product of rows (S, dP) a lane has 4 own rows x TILE/8 streamed rows, in a sum of rows (O, dQ, dK, dV) 4 own rows x
 * D/8 columns. Between the two, the weights of the warp's 16 rows pass through a slab of shared memory that no other warp
 * touches: __syncwarp is enough.
 *
 * nvcc unrolls the loops over these constants, so that the arrays become registers (make ptxas: no stack frame).
 */
#pragma once

#include "scores.cuh"

constexpr int WARP = 32;
constexpr int LANES_ACROSS = 8, LANES_DOWN = 4; // of a warp with a tile: 4 rows x 8 columns of lanes
constexpr int COLUMN_BITS = 0b01101;            // of a lane's number: they differ between the lanes of a row
constexpr int ROWS = 4;                         // of a lane
constexpr int ROWS_OF_WARP = LANES_DOWN * ROWS;
constexpr int PAD = 4;      // of a tile's rows: see load_tile
constexpr int SLAB_PAD = 8; // of the slab's rows: see store_slab

static_assert(LANES_DOWN * LANES_ACROSS == WARP, "the lanes of a warp fill their grid");

inline __device__ float sum_over_warp(float value)
{
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		value += __shfl_xor_sync(0xffffffff, value, distance);
	return value;
}

// exp(S - L) is a weight that is already normalized: exp(S - m) / l = exp(S - m - ln l). A row without any key has
// L = -inf; its weights are 0, not exp(-inf + inf).
inline __device__ float probability(float score, float L, bool visible)
{
	return visible && L != -INFINITY ? expf(score - L) : 0.0f;
}

inline __device__ int row_in_warp()
{
	int lane = threadIdx.x % WARP;
	return (lane >> 1 & 1) | lane >> 4 << 1; // 0 to 3: the lane's row in the grid above
}

inline __device__ int lane_row()
{
	return threadIdx.x / WARP * ROWS_OF_WARP + row_in_warp(); // the lane's first own row; the others are 4 apart
}

inline __device__ int lane_column()
{
	int lane = threadIdx.x % WARP;
	return (lane & 1) | (lane >> 2 & 3) << 1; // 0 to 7
}

// tile[row, c] = factor * from[first_row + row, c], zero outside the tensor. Only real elements are requested, each
// by one of 2 TILE threads. Rows are D + 4 floats apart, so that eight lanes that read 16 bytes of eight rows hit all 32 banks.
template <int D, int TILE>
__device__ void load_tile(
	const float *from, // [N, d], of this head
	int first_row, int N, int d, float factor, float *tile)
{
	if (d % 4 == 0) { // 16 bytes at a time: every row begins at a multiple of 16 bytes
#pragma unroll 8
		for (int i = 0; i < D / 8; i++) { // nvcc has 8 of these loads on their way; 4 at D = 32 and 96
			int index = threadIdx.x + 2 * TILE * i, row = index / (D / 4), c = index % (D / 4) * 4;
			float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
			if (first_row + row < N && c < d)
				four = *(const float4 *)(from + (size_t)(first_row + row) * d + c);
			four = make_float4(factor * four.x, factor * four.y, factor * four.z, factor * four.w);
			*(float4 *)(tile + row * (D + PAD) + c) = four;
		}
	} else {
#pragma unroll 8
		for (int i = 0; i < D / 2; i++) {
			int index = threadIdx.x + 2 * TILE * i, row = index / D, c = index % D;
			bool inside = first_row + row < N && c < d;
			float one = inside ? from[(size_t)(first_row + row) * d + c] : 0.0f;
			tile[row * (D + PAD) + c] = factor * one;
		}
	}
}

// LSE and D of TILE queries: 2 TILE threads, so each fetches one number.
template <int TILE>
__device__ void load_statistics(
	const float *LSE, const float *D, // [N], of this head
	int first_query, int N, float *lse_tile, float *delta_tile)
{
	int row = threadIdx.x % TILE;
	bool inside = first_query + row < N;
	if (threadIdx.x < TILE)
		lse_tile[row] = inside ? LSE[first_query + row] : -INFINITY;
	else
		delta_tile[row] = inside ? D[first_query + row] : 0.0f;
}

// to[first_row + row, c] = factor * sums: only rows and columns that exist.
template <int D>
__device__ void store_rows(
	const float (&sums)[ROWS][D / LANES_ACROSS], float factor, float *to, // [N, d]
	int first_row, int N, int d)
{
	for (int r = 0; r < ROWS; r++) {
		int row = first_row + lane_row() + LANES_DOWN * r;
		for (int u = 0; u < D / WARP; u++) {
			int c = WARP * u + 4 * lane_column();
			float4 four = make_float4(
				factor * sums[r][4 * u], factor * sums[r][4 * u + 1], factor * sums[r][4 * u + 2],
				factor * sums[r][4 * u + 3]);
			float *at = to + (size_t)row * d + c;
			if (row < N && d % 4 == 0 && c < d) {
				*(float4 *)at = four;
			} else if (row < N && d % 4 != 0) {
				float one[4] = {four.x, four.y, four.z, four.w};
				for (int e = 0; e < 4; e++)
					if (c + e < d)
						at[e] = one[e];
			}
		}
	}
}

inline __device__ void load4(const float *from, float (&to)[4])
{
	float4 four = *(const float4 *)from; // one shared-memory load of 16 bytes
	to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// dots[r][t] = sum over c of block_rows[row r, c] * streamed[row t, c]: S with Q scaled, dP with dO and V. Every kernel
// that needs S, the forward too, gets it here: the same numbers in the same order, fused explicitly, so
// that no compiler can round S differently in two places. exp(S - LSE) sums to 1 only then.
template <int D, int TILE>
__device__ void multiply_rows(
	const float *block_rows, const float *streamed, float (&dots)[ROWS][TILE / LANES_ACROSS])
{
	block_rows += lane_row() * (D + PAD);
	streamed += lane_column() * (D + PAD);
	for (int r = 0; r < ROWS; r++)
		for (int t = 0; t < TILE / LANES_ACROSS; t++)
			dots[r][t] = 0.0f;
#pragma unroll 2
	for (int c = 0; c < D; c += 4) {
		float a[ROWS][4], b[4];
		for (int r = 0; r < ROWS; r++)
			load4(block_rows + LANES_DOWN * r * (D + PAD) + c, a[r]);
		for (int t = 0; t < TILE / LANES_ACROSS; t++) {
			load4(streamed + LANES_ACROSS * t * (D + PAD) + c, b);
			for (int r = 0; r < ROWS; r++)
				for (int e = 0; e < 4; e++)
					dots[r][t] = fmaf(a[r][e], b[e], dots[r][t]);
		}
	}
}

// Stores a lane's weights, so that all lanes of its warp can read them. Rows are TILE + 8 floats apart: the four rows the
// lanes of a warp write at once then lie in different banks.
template <int TILE>
__device__ void store_slab(const float (&weights)[ROWS][TILE / LANES_ACROSS], float *slab)
{
	__syncwarp(); // lanes may still be reading what the slab held before
	slab += lane_row() * (TILE + SLAB_PAD) + lane_column();
	for (int r = 0; r < ROWS; r++)
		for (int t = 0; t < TILE / LANES_ACROSS; t++)
			slab[LANES_DOWN * r * (TILE + SLAB_PAD) + LANES_ACROSS * t] = weights[r][t];
	__syncwarp(); // each lane goes on to read what the other 31 wrote
}

// sums[r][c] += sum over j of slab[row r, j] * streamed[j, c]: dV with P and dO, dK with dS and Q, dQ with dS and K.
template <int D, int TILE>
__device__ void add_products(const float *slab, const float *streamed, float (&sums)[ROWS][D / LANES_ACROSS])
{
	slab += lane_row() * (TILE + SLAB_PAD);
	streamed += 4 * lane_column();
#pragma unroll 2
	for (int j = 0; j < TILE; j += 4) {
		float weight[ROWS][4], b[4];
		for (int r = 0; r < ROWS; r++)
			load4(slab + LANES_DOWN * r * (TILE + SLAB_PAD) + j, weight[r]);
		for (int s = 0; s < 4; s++)
			for (int u = 0; u < D / WARP; u++) {
				load4(streamed + (j + s) * (D + PAD) + WARP * u, b);
				for (int r = 0; r < ROWS; r++)
					for (int e = 0; e < 4; e++)
						sums[r][4 * u + e] += weight[r][s] * b[e];
			}
	}
}

template <int COLUMNS>
__device__ void clear(float (&sums)[ROWS][COLUMNS])
{
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLUMNS; c++)
			sums[r][c] = 0.0f;
}

// D is the head dimension rounded up to a multiple of 32, TILE is b.tile.
typedef void tile_kernel(struct attention, struct scores);

// kernels[D / 32 - 1][TILE / 32 - 1] is the kernel<D, TILE>: D = 32, 64, 96, 128; TILE = 32, 64. A block owns rows of one of
// `heads` heads of a sequence: a.H of queries, or a.G of keys. Each sequence gets the blocks of the longest.
inline cudaError_t launch_tiles(
	int heads, tile_kernel *const (&kernels)[4][2], const struct attention &b, const struct scores &a)
{
	if (b.d < 1 || b.d > 128 || (b.tile != 32 && b.tile != 64) || a.G < 1 || a.H % a.G != 0)
		return cudaErrorInvalidValue;
	auto *kernel = kernels[(b.d - 1) / 32][b.tile / 32 - 1];
	size_t shared_bytes = tiles_shared_bytes(b.d, b.tile);
	size_t blocks = (size_t)a.sequences * heads * ((a.longest + b.tile - 1) / b.tile);
	if (blocks > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks
	// More than 48 KB has to be requested. A device that does not have it returns an error here.
	cudaError_t status =
		cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<blocks, 2 * b.tile, shared_bytes>>>(b, a);
	return cudaGetLastError();
}
