/*
 * For kernels with one thread per query row: how the block loads a tile of K or V, and how a row processes a few keys.
 * Chapters 04 and 05 have the same file.
 *
 * Limit: attend reads 4 bytes of shared memory per FMA. nvcc merges four of these loads into one of 16 bytes, which is
 * the same for all lanes of a warp; even so, shared memory limits the kernel to half of the peak of an H100.
 */
#pragma once

#include "launch.cuh"

#include <math.h>

// Keys whose scores a row holds in registers at a time. q and o take 2 D of the 255 registers that a thread has.
template <int D>
constexpr int KEYS_AT_ONCE = D <= 64 ? 8 : 4;

// At D = 96 q, o and the scores just fit (fa2_row spills two registers on sm_90), at D = 128 they do not: make ptxas.

inline int keys_at_once(int d)
{
	return d <= 64 ? KEYS_AT_ONCE<64> : KEYS_AT_ONCE<128>;
}

// Shared memory of a block: a tile of K and one of V; columns padded to D, keys to whole groups.
inline size_t row_shared_bytes(int d, int Bc)
{
	return sizeof(float) * 2 * round_up(d, WARP) * (size_t)round_up(Bc, keys_at_once(d));
}

// Loads a tile. Its rows are padded to D columns, so that the compiler knows the length of the loops over columns, and
// its keys to whole groups. The padding is zeros; only rows and columns that exist are read from HBM.
template <int D>
__device__ void load_tile(
	const float *from, // [rows, d] in HBM
	int rows, int d, int padded_rows,
	float *tile) // [padded_rows, D]
{
	constexpr int AT_ONCE = 4; // loads that a thread has on their way before it stores what they bring
	int step = blockDim.x, all = padded_rows * D;
	for (int first = threadIdx.x; first < all; first += AT_ONCE * step) {
		float x[AT_ONCE];
#pragma unroll
		for (int i = 0; i < AT_ONCE; i++) {
			int e = first + i * step, row = e / D, c = e % D;
			x[i] = row < rows && c < d ? from[(size_t)row * d + c] : 0.0f;
		}
#pragma unroll
		for (int i = 0; i < AT_ONCE; i++)
			if (first + i * step < all)
				tile[first + i * step] = x[i];
	}
}

// Processes KEYS keys for one row: scores, the running maximum, the correction of o and l, the sums. The row sees the
// first `visible` of these keys: all, some, or none if `visible` is negative.
template <int D, int KEYS>
__device__ void attend(
	const float *q,      // [D] registers
	const float *K_tile, // [KEYS, D] shared
	const float *V_tile, // [KEYS, D] shared
	int visible, float scale,
	float *o, // [D] registers
	float *m, float *l)
{
	float s[KEYS] = {};
#pragma unroll
	for (int c = 0; c < D; c++)
#pragma unroll
		for (int j = 0; j < KEYS; j++)
			s[j] += q[c] * K_tile[j * D + c];

	float m_new = *m;
#pragma unroll
	for (int j = 0; j < KEYS; j++) {
		s[j] = j < visible ? scale * s[j] : -INFINITY; // masked, or past the last key
		m_new = fmaxf(m_new, s[j]);
	}
	// m_new is finite: every row sees key 0, which comes first. So a group that is masked out whole adds 0.
	float correction = expf(*m - m_new);
	*m = m_new;
	*l *= correction;
#pragma unroll
	for (int j = 0; j < KEYS; j++) {
		s[j] = expf(s[j] - m_new);
		*l += s[j];
	}
#pragma unroll
	for (int c = 0; c < D; c++) {
		o[c] *= correction;
#pragma unroll
		for (int j = 0; j < KEYS; j++)
			o[c] += s[j] * V_tile[j * D + c];
	}
}
