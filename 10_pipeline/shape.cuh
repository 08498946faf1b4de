/*
 * Chapter 10: who computes what, and where it lies in shared memory. Steps 2 and 3 of the chapter are a choice of these
 * types: the kernels name them at their top.
 */
#pragma once

#include "launch.cuh"

// The 32 lanes of a warp form 4 rows x 8 keys. A lane computes ROWS x KEYS scores and ROWS x COLUMNS elements of O: its
// rows are 4 apart, its keys 8 apart, its columns come in groups of 4 that are 32 apart.
template <int D>
struct shape {
	static constexpr int LANE_ROWS = 4, LANE_KEYS = 8;
	static constexpr int ROWS = 8, COLUMNS = D / LANE_KEYS; // ROWS x COLUMNS elements of O stay in registers
	static constexpr int KEYS = D <= 96 ? 8 : 4, WARPS = D <= 64 ? 4 : 2; // so that a block fits 99 KB
	static constexpr int WARP_ROWS = LANE_ROWS * ROWS;
	static constexpr int Br = WARPS * WARP_ROWS, Bc = LANE_KEYS * KEYS, THREADS = WARPS * WARP;

	static __device__ int v(int key, int c) { return key * D + c; } // where an element of V lies

	static_assert(LANE_ROWS * LANE_KEYS == WARP, "the lanes of a warp fill their grid");
	static_assert(D % 32 == 0, "a lane's columns are groups of 4, and 8 lanes share a row");
	static_assert(Bc % (THREADS / 8) == 0, "each thread fetches as much of a tile as any other");
};

// ---- which row and key of the 4 x 8 a lane has; KEY_BITS: the bits of its number that tell the lanes of a row apart ----

struct lanes_in_rows { // lanes 0 ... 7 are the first row
	static constexpr int KEY_BITS = 0b00111;
	static __device__ int row(int lane) { return lane / 8; }
	static __device__ int key(int lane) { return lane % 8; }
};

struct lanes_interleaved { // bit 0: key; bit 1: row; bits 2 and 3: key; bit 4: row
	static constexpr int KEY_BITS = 0b01101;
	static __device__ int row(int lane) { return (lane >> 1 & 1) | (lane >> 4) << 1; }
	static __device__ int key(int lane) { return (lane & 1) | (lane >> 2 & 3) << 1; }
};

// ---- where an element of a tile lies, in floats from the tile's beginning ----

// Rows of K and P~ are longer than what they hold, so that rows that are read or written at once lie in different banks.
template <int D>
struct padded {
	using T = shape<D>;
	static constexpr int K_STRIDE = D + 4,
			     P_STRIDE = T::Bc + (D == 64 ? 4 : 8); // D = 64: 8 would be too long for 99 KB
	static constexpr int K_FLOATS = T::Bc * K_STRIDE, P_FLOATS = T::Br * P_STRIDE;
	static __device__ int q(int row, int c) { return row * D + c; }
	static __device__ int k(int key, int c) { return key * K_STRIDE + c; }
	static __device__ int p(int row, int key) { return row * P_STRIDE + key; }
};

// Rows are not padded. Row r of Q and P~: the column XOR 8 (r mod 4); key k: XOR 4 (k mod 8). XOR with a multiple of 4 below
// 32 moves groups of four floats within their 32, which are the 32 banks: a load of 16 bytes stays one. 4 rows of 8 weights
// that are stored at once, and 8 keys of 4 columns that are read at once, fill the 32 banks.
template <int D>
struct swizzled {
	using T = shape<D>;
	static constexpr int K_FLOATS = T::Bc * D, P_FLOATS = T::Br * T::Bc;
	static __device__ int q(int row, int c) { return row * D + (c ^ (row & 3) * 8); }
	static __device__ int k(int key, int c) { return key * D + (c ^ (key & 7) * 4); }
	static __device__ int p(int row, int key) { return row * T::Bc + (key ^ (row & 3) * 8); }
};

// Floats of shared memory of a block: Q, K, V and a slab of P~ for each warp.
template <int D, class Layout>
constexpr int block_floats()
{
	using T = shape<D>;
	constexpr int FLOATS = T::Br * D + Layout::K_FLOATS + T::Bc * D + Layout::P_FLOATS;
	static_assert(FLOATS * sizeof(float) <= 99 * 1024, "a block fits the 99 KB of an RTX 4090");
	return FLOATS;
}
