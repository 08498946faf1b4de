/*
 * Chapter 05, for the kernels with register tiles: the compile-time sizes, one set per D.
 */
#pragma once

#include "launch.cuh"

constexpr int WARPS = 4, THREADS = WARPS * WARP; // of a block of fa2_split_q; the others are one warp

// Lanes of a warp form 4 rows x 8 columns. A lane computes ROWS x KEYS scores and ROWS x COLUMNS elements of O; its rows
// are 4 apart, its keys 8 apart, its columns come in groups of 4 that are 32 apart.
template <int D>
struct warp_shape {
	static constexpr int LANE_ROWS = 4, LANE_KEYS = 8;
	static constexpr int ROWS = D <= 64 ? 8 : 4;  // ROWS x COLUMNS elements of O stay in registers
	static constexpr int KEYS = D <= 96 ? 8 : 4;  // so that K and V fit
	static constexpr int COLUMNS = D / LANE_KEYS; // of O
	static constexpr int WARP_ROWS = LANE_ROWS * ROWS, Bc = LANE_KEYS * KEYS;

	// Row strides in shared memory, in floats, from fa2_slab on. Lanes that read one column of 8 keys at once use
	// 8 different groups of 4 banks only if rows are not a multiple of 32 apart. Q is not padded: all 8 lanes of a
	// row read the same address. But a pass of 16 lanes reads two rows, which lie in the same banks: 4 wavefronts
	// instead of 2. Padding would need 512 floats more than an RTX 4090 has (fa2_split_q, D = 64), a swizzle none.
	static constexpr int K_STRIDE = D + 4;
	// 4 rows of P~ are written at once, 8 keys each: 8 banks apart is free of conflicts. At D = 64 that would again
	// be 512 floats too many for an RTX 4090; 4 banks apart costs 3 % more wavefronts.
	static constexpr int P_STRIDE = Bc + (D == 64 ? 4 : 8);

	static_assert(LANE_ROWS * LANE_KEYS == WARP, "the lanes of a warp fill their grid");
	static_assert(D % 32 == 0, "a lane's columns are groups of 4, and 8 lanes share a row");
	static_assert(KEYS % 4 == 0, "P~ is read four keys at a time");
	static_assert(K_STRIDE % 4 == 0 && P_STRIDE % 4 == 0, "every row starts at a multiple of 16 bytes");
};

// Floats of shared memory that a block uses: tiles of Q, K and V without padding.
template <int D>
constexpr int plain_floats()
{
	return (warp_shape<D>::WARP_ROWS + 2 * warp_shape<D>::Bc) * D;
}

// The same with padded K, and with a slab of P~ for each warp.
template <int D, int BLOCK_WARPS>
constexpr int slab_floats()
{
	using T = warp_shape<D>;
	constexpr int FLOATS = BLOCK_WARPS * T::WARP_ROWS * (D + T::P_STRIDE) + T::Bc * (T::K_STRIDE + D);
	static_assert(FLOATS * sizeof(float) <= 99 * 1024, "a block fits the 99 KB of an RTX 4090");
	return FLOATS;
}
