/*
 * variant_forward: O and LSE. New since chapter 06's forward.cu: the loop begins with the first tile of keys that the query
 * tile sees; `modify` and the mask change the scores; m and l start with the sink; dropout changes the weights, but not l;
 * heads of queries share heads of keys; and sequences may be packed.
 *
 * Build and run: make, then ./variants --kernel forward --window 64. Limit: every score is tested for the mask, even in
 * tiles without a masked score; and a query tile has 64 rows, not the 128 of chapter 05's fa2_split_q, so K and V are
 * requested twice as often.
 */
#include "tiles.cuh"

// Over the eight lanes that share a row.
template <class Combine>
__device__ float over_row(float value, Combine combine)
{
	for (int bit = 1; bit < WARP; bit *= 2)
		if (COLUMN_BITS & bit)
			value = combine(value, __shfl_xor_sync(0xffffffff, value, bit));
	return value;
}

// Scores of a row become exp(s - m), with s the modified score; m and the lane's part of l are updated. Returns the factor
// for the sums that were computed with the old m. m is never -inf, so no difference is NaN.
template <int COLUMNS>
__device__ float soften_row(
	float (&s)[COLUMNS], const struct scores &a, float slope, int query, int first_key, float &m, float &l)
{
	struct range keys = keys_of(a, query);
	float m_new = m, sum = 0.0f;
#pragma unroll
	for (int t = 0; t < COLUMNS; t++) {
		int key = first_key + LANES_ACROSS * t;
		s[t] = sees(keys, key) ? modify(a, slope, s[t], query, key) : -INFINITY;
		m_new = fmaxf(m_new, s[t]);
	}
	m_new = over_row(m_new, fmaxf);
	float correction = expf(m - m_new);
#pragma unroll
	for (int t = 0; t < COLUMNS; t++) {
		s[t] = expf(s[t] - m_new);
		sum += s[t];
	}
	m = m_new;
	l = correction * l + sum;
	return correction;
}

template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) variant_forward(struct attention b, struct scores a)
{
	constexpr int COLUMNS = TILE / LANES_ACROSS;
	extern __shared__ float4 shared_memory[];
	float *q_tile = (float *)shared_memory, *k_tile = q_tile + TILE * (D + PAD);
	float *v_tile = k_tile + TILE * (D + PAD), *slab = v_tile + TILE * (D + PAD);
	int tiles = (a.longest + TILE - 1) / TILE, first_query = blockIdx.x % tiles * TILE;
	struct sequence sequence = sequence_of(a, blockIdx.x / tiles / a.H);
	if (first_query >= sequence.N)
		return; // the grid has the blocks of the longest sequence
	int head = blockIdx.x / tiles % a.H;
	size_t row = row_of(a, sequence, head, a.H), matrix = row * b.d;
	size_t kv_matrix = row_of(a, sequence, head / (a.H / a.G), a.G) * b.d;
	a.N = sequence.N;
	float slope = slope_of(a, head);

	float m[ROWS], l[ROWS], p[ROWS][COLUMNS], o[ROWS][D / LANES_ACROSS];
	clear(o);
	float first_max = a.sink ? a.sink[head] : LOWEST;
	// The sink is treated as a first key without a value; one of eight lanes has it.
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		m[r] = first_max, l[r] = a.sink && lane_column() == 0 ? 1.0f : 0.0f;
	load_tile<D, TILE>(b.Q + matrix, first_query, a.N, b.d, b.scale, q_tile);
	int end = keys_of(a, min(first_query + TILE, a.N) - 1).end;
	for (int first_key = keys_of(a, first_query).first / TILE * TILE; first_key < end; first_key += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.K + kv_matrix, first_key, a.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + kv_matrix, first_key, a.N, b.d, 1.0f, v_tile);
		__syncthreads(); // every warp reads rows that other warps loaded
		multiply_rows<D, TILE>(q_tile, k_tile, p);
		auto bits = dropped_weights<ROWS * COLUMNS>(a, blockIdx.x / tiles, [=](int e) {
			return make_int2(
				first_query + lane_row() + LANES_DOWN * (e / COLUMNS),
				first_key + lane_column() + LANES_ACROSS * (e % COLUMNS));
		});
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			int query = first_query + lane_row() + LANES_DOWN * r;
			float correction = soften_row(p[r], a, slope, query, first_key + lane_column(), m[r], l[r]);
#pragma unroll
			for (int c = 0; c < D / LANES_ACROSS; c++)
				o[r][c] *= correction;
#pragma unroll
			for (int t = 0; t < COLUMNS; t++)
				p[r][t] *= dropout_factor(a, bits, r * COLUMNS + t);
		}
		store_slab<TILE>(p, slab);
		add_products<D, TILE>(slab, v_tile, o);
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		float sum = over_row(l[r], [](float x, float y) { return x + y; });
		int query = first_query + lane_row() + LANES_DOWN * r;
#pragma unroll
		for (int c = 0; c < D / LANES_ACROSS; c++)
			o[r][c] /= sum;
		if (query < a.N && lane_column() == 0)
			b.LSE[row + query] = m[r] + logf(sum);
	}
	store_rows<D>(o, 1.0f, b.O + matrix, first_query, a.N, b.d);
}

static tile_kernel *const kernels[4][2] = {
	{variant_forward<32, 32>, variant_forward<32, 64>},
	{variant_forward<64, 32>, variant_forward<64, 64>},
	{variant_forward<96, 32>, variant_forward<96, 64>},
	{variant_forward<128, 32>, variant_forward<128, 64>}};

extern "C" cudaError_t launch_forward(struct attention b, struct scores a)
{
	return launch_tiles(a.H, kernels, b, a);
}

extern "C" size_t tiles_shared_bytes(int d, int tile)
{
	int D = (d + WARP - 1) / WARP * WARP;
	return sizeof(float) * tile * (4 * (D + PAD) + tile + SLAB_PAD + 2);
}
