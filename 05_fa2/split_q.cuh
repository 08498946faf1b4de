/*
 * fa2_split_q: what is compiled in, tile by tile, and how four columns at a time come from HBM and go back there.
 */
#pragma once

#include "launch.cuh"

constexpr int WARPS = 4, THREADS = WARPS * WARP; // of a block

// What is compiled in. Lanes of a warp form 4 rows x 8 columns; a lane computes ROWS x KEYS scores and ROWS x COLUMNS
// of the output, each lane's rows 4 apart, its keys 8 apart, its columns in groups of 4 that are 32 apart.
template <int D>
struct split {
	static constexpr int LANE_ROWS = 4, LANE_KEYS = 8;
	static constexpr int ROWS = D <= 64 ? 8 : 4;  // ROWS x COLUMNS outputs stay in registers
	static constexpr int KEYS = D <= 96 ? 8 : 4;  // ROWS x KEYS scores too
	static constexpr int COLUMNS = D / LANE_KEYS; // of the output
	static constexpr int WARP_ROWS = LANE_ROWS * ROWS, Br = WARPS * WARP_ROWS, Bc = LANE_KEYS * KEYS;

	// Row strides in shared memory, in floats. Lanes that read one column of 8 keys at once meet 8 different
	// groups of 4 banks only if rows are not a multiple of 32 apart. Q is read by all 8 lanes at the same
	// address, not padded: the two rows that a pass of 16 lanes reads meet in the same banks, 4 wavefronts where
	// 2 would do. At D = 64 padding would be 512 floats more than an RTX 4090 has.
	static constexpr int K_STRIDE = D + 4;
	// 4 rows of P are written at once, 8 keys each: 8 banks apart is conflict-free. At D = 64 that would be 512
	// floats more than an RTX 4090 has; 4 banks apart costs 3 % more wavefronts.
	static constexpr int P_STRIDE = Bc + (D == 64 ? 4 : 8);
	static constexpr int FLOATS = Br * D + Bc * K_STRIDE + Bc * D + Br * P_STRIDE;

	static_assert(D % 32 == 0, "a lane's columns are groups of 4, and 8 lanes share a row");
	static_assert(KEYS % 4 == 0, "P is read four keys at a time");
	static_assert(K_STRIDE % 4 == 0 && P_STRIDE % 4 == 0, "every row starts at a multiple of 16 bytes");
	static_assert(FLOATS * sizeof(float) <= 99 * 1024, "a block fits the 99 KB of an RTX 4090");
};

// Four columns, of which those from d on are 0 and come from nowhere. With d % 4 == 0 every row starts at a multiple
// of 16 bytes and one load does; otherwise four.
__device__ inline float4 load_four(const float *row, int c, int d)
{
	float4 x = {0.0f, 0.0f, 0.0f, 0.0f};
	if (d % 4 == 0)
		return c < d ? *(const float4 *)(row + c) : x;
	if (c < d)
		x.x = row[c];
	if (c + 1 < d)
		x.y = row[c + 1];
	if (c + 2 < d)
		x.z = row[c + 2];
	if (c + 3 < d)
		x.w = row[c + 3];
	return x;
}

__device__ inline void store_four(float *row, int c, int d, float4 x)
{
	if (d % 4 == 0) {
		if (c < d)
			*(float4 *)(row + c) = x;
		return;
	}
	if (c < d)
		row[c] = x.x;
	if (c + 1 < d)
		row[c + 1] = x.y;
	if (c + 2 < d)
		row[c + 2] = x.z;
	if (c + 3 < d)
		row[c + 3] = x.w;
}

// A tile of TILE_ROWS x D, times `factor`; rows past the last and columns past d are 0.
template <int D, int TILE_ROWS>
__device__ void load_tile_by_fours(
	const float *from, // [rows, d] in HBM
	int rows, int d, float factor,
	float *tile, // [TILE_ROWS, stride] shared
	int stride)
{
#pragma unroll 4
	for (int e = threadIdx.x; e < TILE_ROWS * (D / 4); e += THREADS) {
		int row = e / (D / 4), c = e % (D / 4) * 4;
		float4 x = {0.0f, 0.0f, 0.0f, 0.0f};
		if (row < rows)
			x = load_four(from + (size_t)row * d, c, d);
		*(float4 *)(tile + row * stride + c) = {factor * x.x, factor * x.y, factor * x.z, factor * x.w};
	}
}
