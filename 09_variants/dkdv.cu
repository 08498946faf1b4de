/*
 * variant_dkdv: dK and dV. New since chapter 06's dkdv.cu: a block processes its keys with the queries of all heads that
 * share them; scores are modified; the derivative of the cap is a factor of dS; dropout is a factor of P in dV and of dP in
 * dS; and sequences may be packed.
 *
 * Deterministic: one block sums dK and dV of a key over the heads of its group, one after the other.
 *
 * Build and run: make, then ./variants --kernel dkdv --heads 4 --kv-heads 1. Limit: shared heads leave fewer blocks, each
 * with the work of a whole group.
 */
#include "tiles.cuh"

// S^T of a tile (rows keys, columns queries) becomes P^T, and ds the derivative of the scores.
template <int TILE>
__device__ void weigh_keys(
	float (&s)[ROWS][TILE / LANES_ACROSS], float (&derivatives)[ROWS][TILE / LANES_ACROSS], const float *lse_tile,
	int first_key, int first_query, const struct scores &a, float slope)
{
#pragma unroll
	for (int t = 0; t < TILE / LANES_ACROSS; t++) {
		int column = lane_column() + LANES_ACROSS * t, query = first_query + column;
		struct range keys = keys_of(a, query);
		float L = lse_tile[column]; // -inf for a query beyond N: it has no weights
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			int key = first_key + lane_row() + LANES_DOWN * r;
			derivatives[r][t] = derivative(a, s[r][t]);
			s[r][t] = probability(modify(a, slope, s[r][t], query, key), L, sees(keys, key));
		}
	}
}

template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) variant_dkdv(struct attention b, struct scores a)
{
	constexpr int COLUMNS = TILE / LANES_ACROSS;
	extern __shared__ float4 shared_memory[];
	float *k_tile = (float *)shared_memory, *v_tile = k_tile + TILE * (D + PAD);
	float *q_tile = v_tile + TILE * (D + PAD), *do_tile = q_tile + TILE * (D + PAD);
	float *slab = do_tile + TILE * (D + PAD);
	float *lse_tile = slab + TILE * (TILE + SLAB_PAD), *delta_tile = lse_tile + TILE;
	int tiles = (a.longest + TILE - 1) / TILE, first_key = blockIdx.x % tiles * TILE, group = a.H / a.G;
	int kv_head = blockIdx.x / tiles % a.G, index = blockIdx.x / tiles / a.G;
	struct sequence sequence = sequence_of(a, index);
	if (first_key >= sequence.N)
		return; // the grid has the blocks of the longest sequence
	size_t kv_matrix = row_of(a, sequence, kv_head, a.G) * b.d, first_head = row_of(a, sequence, 0, a.H);
	int stride = a.N; // from head to head, in rows
	a.N = sequence.N;
	int first = queries_of(a, first_key).first / TILE * TILE,
	    end = queries_of(a, min(first_key + TILE, a.N) - 1).end;

	float p[ROWS][COLUMNS], ds[ROWS][COLUMNS], derivatives[ROWS][COLUMNS];
	float dk[ROWS][D / LANES_ACROSS], dv[ROWS][D / LANES_ACROSS];
	clear(dk);
	clear(dv);
	load_tile<D, TILE>(b.K + kv_matrix, first_key, a.N, b.d, 1.0f, k_tile);
	load_tile<D, TILE>(b.V + kv_matrix, first_key, a.N, b.d, 1.0f, v_tile);
	for (int head = kv_head * group; head < (kv_head + 1) * group; head++) {
		size_t row = first_head + (size_t)head * stride, matrix = row * b.d;
		float slope = slope_of(a, head);
		for (int first_query = first; first_query < end; first_query += TILE) {
			__syncthreads(); // a slow warp may still be reading the last tiles
			load_tile<D, TILE>(b.Q + matrix, first_query, a.N, b.d, b.scale, q_tile);
			load_tile<D, TILE>(b.dO + matrix, first_query, a.N, b.d, 1.0f, do_tile);
			load_statistics<TILE>(b.LSE + row, b.delta + row, first_query, a.N, lse_tile, delta_tile);
			__syncthreads(); // every warp reads rows that other warps loaded

			multiply_rows<D, TILE>(k_tile, q_tile, p); // S^T
			weigh_keys<TILE>(p, derivatives, lse_tile, first_key, first_query, a, slope);
			auto bits = dropped_weights<ROWS * COLUMNS>(a, index * a.H + head, [=](int e) {
				return make_int2(
					first_query + lane_column() + LANES_ACROSS * (e % COLUMNS),
					first_key + lane_row() + LANES_DOWN * (e / COLUMNS));
			});
#pragma unroll
			for (int r = 0; r < ROWS; r++)
#pragma unroll
				for (int t = 0; t < COLUMNS; t++)
					ds[r][t] = p[r][t] * dropout_factor(a, bits, r * COLUMNS + t);
			store_slab<TILE>(ds, slab);
			add_products<D, TILE>(slab, do_tile, dv); // dV += P^T dO

			multiply_rows<D, TILE>(v_tile, do_tile, ds); // dP^T
#pragma unroll
			for (int r = 0; r < ROWS; r++)
#pragma unroll
				for (int t = 0; t < COLUMNS; t++) { // dS^T = P^T o (dropout dP^T - delta) o cap'
					float delta = delta_tile[lane_column() + LANES_ACROSS * t];
					float dp = ds[r][t] * dropout_factor(a, bits, r * COLUMNS + t);
					ds[r][t] = p[r][t] * (dp - delta) * derivatives[r][t];
				}
			store_slab<TILE>(ds, slab);
			add_products<D, TILE>(slab, q_tile, dk); // dK += dS^T (scale Q)
		}
	}
	store_rows<D>(dk, 1.0f, b.dK + kv_matrix, first_key, a.N, b.d);
	store_rows<D>(dv, 1.0f, b.dV + kv_matrix, first_key, a.N, b.d);
}

static tile_kernel *const kernels[4][2] = {
	{variant_dkdv<32, 32>, variant_dkdv<32, 64>},
	{variant_dkdv<64, 32>, variant_dkdv<64, 64>},
	{variant_dkdv<96, 32>, variant_dkdv<96, 64>},
	{variant_dkdv<128, 32>, variant_dkdv<128, 64>}};

extern "C" cudaError_t launch_dkdv(struct attention b, struct scores a)
{
	return launch_tiles(a.G, kernels, b, a);
}
