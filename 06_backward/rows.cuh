// One row of S: a sum over the lanes of a warp, P from S and L, and the L and D of a tile's queries.
#pragma once

#include <math.h>

constexpr int WARP = 32;
constexpr int ROWS_PER_BLOCK = 4; // of a kernel with one warp per row

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
