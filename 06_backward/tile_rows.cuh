/*
 * Tiles of rows: from global to shared memory, and from registers back. Shared by forward, backward_dkdv, backward_dq
 * and backward_atomic, which multiply them with tile_products.cuh.
 *
 * A block has TILE rows of its own (keys in backward_dkdv, queries in backward_dq) and loads tiles of TILE rows of the
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
 */
#pragma once

#include "rows.cuh"

constexpr int LANES_ACROSS = 8, LANES_DOWN = 4; // of a warp with a tile: 4 rows x 8 columns of lanes
constexpr int COLUMN_BITS = 0b01101;            // of a lane's number: they differ between the lanes of a row
constexpr int ROWS = 4;                         // of a lane
constexpr int ROWS_OF_WARP = LANES_DOWN * ROWS;
constexpr int PAD = 4; // of a tile's rows: see load_tile

static_assert(LANES_DOWN * LANES_ACROSS == WARP, "the lanes of a warp fill their grid");

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
