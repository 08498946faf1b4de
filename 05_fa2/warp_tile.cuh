/*
 * Chapter 05: how a warp processes its rows of queries and a tile of keys, and how m, l and O of its rows begin and end.
 * fa2_tile, fa2_slab and fa2_split_q call these functions. Each lane holds a small tile of scores and one of O in
 * registers; the comment on warp_shape says which elements.
 */
#pragma once

#include "float4.cuh"
#include "shape.cuh"

#include <math.h>

// s = Q K^T for ROWS x KEYS elements. Four columns at a time: ROWS + KEYS loads of 16 bytes for ROWS KEYS 4 FMA.
template <int D, int K_STRIDE>
__device__ void score_tile(
	const float *Q, // this lane's first row; rows 4 D apart
	const float *K, // this lane's first key; keys 8 K_STRIDE apart
	float s[warp_shape<D>::ROWS][warp_shape<D>::KEYS])
{
	using T = warp_shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			s[r][j] = 0.0f;
#pragma unroll 2
	for (int c = 0; c < D; c += 4) {
		float4 q[T::ROWS];
#pragma unroll
		for (int r = 0; r < T::ROWS; r++)
			q[r] = *(const float4 *)(Q + r * T::LANE_ROWS * D + c);
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			float4 k = *(const float4 *)(K + j * T::LANE_KEYS * K_STRIDE + c);
#pragma unroll
			for (int r = 0; r < T::ROWS; r++) {
				s[r][j] += q[r].x * k.x;
				s[r][j] += q[r].y * k.y;
				s[r][j] += q[r].z * k.z;
				s[r][j] += q[r].w * k.w;
			}
		}
	}
}

template <int D>
__device__ void scale_tile(float scale, float s[warp_shape<D>::ROWS][warp_shape<D>::KEYS])
{
	using T = warp_shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			s[r][j] *= scale;
}

// Scores above the diagonal and past the last key become -inf. first_row, first_key: of this lane's first score.
template <int D>
__device__ void mask_tile(
	int first_row, int first_key, int N, bool causal, float s[warp_shape<D>::ROWS][warp_shape<D>::KEYS])
{
	using T = warp_shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			int row = first_row + r * T::LANE_ROWS, key = first_key + j * T::LANE_KEYS;
			if (key >= N || (causal && key > row))
				s[r][j] = -INFINITY;
		}
}

// Scores become P~; O and l are corrected for the new maximum. A row's maximum is that of the 8 lanes which hold its
// keys: three shuffles. l stays a sum of this lane's keys until the end.
template <int D>
__device__ void exponentiate_tile(
	float s[warp_shape<D>::ROWS][warp_shape<D>::KEYS], float m[warp_shape<D>::ROWS], float l[warp_shape<D>::ROWS],
	float o[warp_shape<D>::ROWS][warp_shape<D>::COLUMNS])
{
	using T = warp_shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		// task 05.rescale: the new maximum of a row that eight lanes share
		float m_new = m[r];
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			m_new = fmaxf(m_new, s[r][j]);
		for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)
			m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffff, m_new, lanes));
		// m_new is finite: every row sees key 0, which comes first.
		float correction = expf(m[r] - m_new);
		m[r] = m_new;
		l[r] *= correction;
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			s[r][j] = expf(s[r][j] - m_new);
			l[r] += s[r][j];
		}
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c++)
			o[r][c] *= correction;
		// end 05.rescale
	}
}

template <int D>
__device__ void start_rows(
	float m[warp_shape<D>::ROWS], float l[warp_shape<D>::ROWS],
	float o[warp_shape<D>::ROWS][warp_shape<D>::COLUMNS])
{
	using T = warp_shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		m[r] = -INFINITY;
		l[r] = 0.0f;
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c++)
			o[r][c] = 0.0f;
	}
}

// O / l and LSE, once. l is now summed over the 8 lanes that share a row.
template <int D>
__device__ void store_rows(
	const float o[warp_shape<D>::ROWS][warp_shape<D>::COLUMNS], const float m[warp_shape<D>::ROWS],
	const float l[warp_shape<D>::ROWS], int first_row, int own_column, int N, int d,
	float *O,   // [N, d] of this head
	float *LSE) // [N] of this head
{
	using T = warp_shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		int row = first_row + r * T::LANE_ROWS;
		float sum = l[r];
		for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)
			sum += __shfl_xor_sync(0xffffffff, sum, lanes);
		if (row >= N)
			continue; // the last tile may be ragged; checked only here, because shuffles need all lanes
		float inverse = 1.0f / sum;
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c += 4)
			store_float4(
				O + (size_t)row * d, own_column + c * T::LANE_KEYS, d,
				{o[r][c] * inverse, o[r][c + 1] * inverse, o[r][c + 2] * inverse,
			         o[r][c + 3] * inverse});
		if (own_column == 0)
			LSE[row] = m[r] + logf(sum);
	}
}
