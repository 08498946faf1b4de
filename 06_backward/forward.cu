/*
 * forward: O and LSE, as in chapter 05, from the scores that the backward will compute again. It is launched before
 * each of the three backwards, which take O and LSE as given.
 *
 * A block processes TILE queries with all keys that they see. O, m and l stay in registers; shared memory holds
 *
 *     q_tile              [TILE, D + 4]     the block's own, times scale
 *     k_tile v_tile       [TILE, D + 4]     streamed
 *     slab                [TILE, TILE + 8]  P: 16 rows per warp
 *
 * Run: ./backward. Limit: a weight is expf(s - m), four instructions more than exp2f; an exercise of chapter 05 saves
 * them by folding log2 e into the scale of the scores. LSE is the natural logarithm that the backward reads.
 */
#include "backward.h"
#include "launch.cuh"
#include "tile_products.cuh"
#include "tile_rows.cuh"

// Over the eight lanes that share a row.
__device__ float max_over_row(float value)
{
	for (int bit = 1; bit < WARP; bit *= 2)
		if (COLUMN_BITS & bit)
			value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, bit));
	return value;
}

__device__ float sum_over_row(float value)
{
	for (int bit = 1; bit < WARP; bit *= 2)
		if (COLUMN_BITS & bit)
			value += __shfl_xor_sync(0xffffffff, value, bit);
	return value;
}

// The online softmax for one row of a tile: scores become exp(s - m), m and the lane's part of l are updated. Keys from
// `end` on are not seen; `first_key` is the lane's first. Returns the factor for the sums computed with the old m.
template <int COLUMNS>
__device__ float soften_row(float (&s)[COLUMNS], int first_key, int end, float &m, float &l)
{
	float m_new = m, sum = 0.0f;
	for (int t = 0; t < COLUMNS; t++) {
		s[t] = first_key + LANES_ACROSS * t < end ? s[t] : -INFINITY;
		m_new = fmaxf(m_new, s[t]);
	}
	m_new = max_over_row(m_new);
	float shift = m_new == -INFINITY ? 0.0f : m_new; // no key yet: exp(-inf + inf) would be NaN
	float correction = expf(m - shift);
	for (int t = 0; t < COLUMNS; t++) {
		s[t] = expf(s[t] - shift);
		sum += s[t];
	}
	m = m_new;
	l = correction * l + sum;
	return correction;
}

template <int D, int TILE> // 256 threads on an SM: up to 255 registers each; by shared memory fewer blocks may fit
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) forward(struct backward b)
{
	extern __shared__ float4 shared_memory[];
	float *q_tile = (float *)shared_memory, *k_tile = q_tile + TILE * (D + PAD);
	float *v_tile = k_tile + TILE * (D + PAD), *slab = v_tile + TILE * (D + PAD);
	int tiles = (b.N + TILE - 1) / TILE;
	size_t head = blockIdx.x / tiles;
	size_t matrix = head * b.N * b.d;
	int first_query = blockIdx.x % tiles * TILE;
	int keys = b.causal ? min(first_query + TILE, b.N) : b.N; // later tiles hold nothing these queries see

	float m[ROWS], l[ROWS], p[ROWS][TILE / LANES_ACROSS], o[ROWS][D / LANES_ACROSS];
	clear(o);
	for (int r = 0; r < ROWS; r++)
		m[r] = -INFINITY, l[r] = 0.0f;
	load_tile<D, TILE>(b.Q + matrix, first_query, b.N, b.d, b.scale, q_tile);
	for (int first_key = 0; first_key < keys; first_key += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
		__syncthreads(); // every warp reads rows that other warps loaded
		multiply_rows<D, TILE>(q_tile, k_tile, p);
		for (int r = 0; r < ROWS; r++) {
			int query = first_query + lane_row() + LANES_DOWN * r;
			int end = b.causal ? min(query + 1, b.N) : b.N;
			float correction = soften_row(p[r], first_key + lane_column(), end, m[r], l[r]);
			for (int c = 0; c < D / LANES_ACROSS; c++)
				o[r][c] *= correction;
		}
		store_slab<TILE>(p, slab);
		add_products<D, TILE>(slab, v_tile, o);
	}
	for (int r = 0; r < ROWS; r++) {
		float sum = sum_over_row(l[r]);
		float inverse = sum > 0.0f ? 1.0f / sum : 0.0f; // a row without keys is 0
		int query = first_query + lane_row() + LANES_DOWN * r;
		for (int c = 0; c < D / LANES_ACROSS; c++)
			o[r][c] *= inverse;
		if (query < b.N && lane_column() == 0)
			b.LSE[head * b.N + query] = sum > 0.0f ? m[r] + logf(sum) : -INFINITY;
	}
	store_rows<D>(o, 1.0f, b.O + matrix, first_query, b.N, b.d);
}

static tile_kernel *const kernels[4][2] = {
	{forward<32, 32>, forward<32, 64>},
	{forward<64, 32>, forward<64, 64>},
	{forward<96, 32>, forward<96, 64>},
	{forward<128, 32>, forward<128, 64>}};

extern "C" cudaError_t attention_forward(struct backward b)
{
	return launch_tiles(kernels, b);
}

extern "C" int backward_default_tile(int d)
{
	return d <= 64 ? 64 : 32;
}

extern "C" size_t backward_shared_bytes(int d, int tile)
{
	int D = (d + WARP - 1) / WARP * WARP;
	return sizeof(float) * tile * (4 * (D + PAD) + tile + SLAB_PAD + 2);
}
