/*
 * Chapter 05, for the kernels with register tiles: how m, l and O of a lane's rows are initialized and stored, and the base
 * of which P~ is a power.
 */
#pragma once

#include "fours.cuh"
#include "shape.cuh"

#include <math.h>

// P~ is either e^(s - m), or 2^(s - m) with scores that are multiplied by log2 e.
enum base { BASE_E, BASE_2 };

constexpr float LOG2_E = 1.44269504f; // e^x = 2^(x log2 e)
constexpr float LN_2 = 0.693147181f;

template <enum base BASE>
__device__ float power(float x)
{
	return BASE == BASE_2 ? exp2f(x) : expf(x);
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
template <int D, enum base BASE>
__device__ void store_rows(
	const float o[warp_shape<D>::ROWS][warp_shape<D>::COLUMNS], const float m[warp_shape<D>::ROWS],
	const float l[warp_shape<D>::ROWS], int first_row, int lane_column, int N, int d,
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
			store_four(
				O + (size_t)row * d, lane_column * 4 + c * T::LANE_KEYS, d,
				{o[r][c] * inverse, o[r][c + 1] * inverse, o[r][c + 2] * inverse,
			         o[r][c + 3] * inverse});
		if (lane_column == 0)
			LSE[row] = m[r] * (BASE == BASE_2 ? LN_2 : 1.0f) + logf(sum);
	}
}
