/*
 * variant_dq: dQ; and variant_dsink, the gradient of the sinks. New since chapter 06's dq.cu: the first tile of keys is
 * computed, scores are modified, the derivative of the cap is a factor of dS, dropout is a factor of dP, heads of queries
 * share heads of keys, and sequences may be packed. ALiBi changes only P, because its bias does not depend on Q.
 *
 * Build and run: make, then ./variants --kernel dq --sink. Limit: dsink is one warp per head, which reads all of LSE and D of
 * its queries once more.
 */
#include "tiles.cuh"

template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) variant_dq(struct attention b, struct scores a)
{
	constexpr int COLUMNS = TILE / LANES_ACROSS;
	extern __shared__ float4 shared_memory[];
	float *q_tile = (float *)shared_memory, *do_tile = q_tile + TILE * (D + PAD);
	float *k_tile = do_tile + TILE * (D + PAD), *v_tile = k_tile + TILE * (D + PAD);
	float *slab = v_tile + TILE * (D + PAD);
	float *lse_tile = slab + TILE * (TILE + SLAB_PAD), *delta_tile = lse_tile + TILE;
	int tiles = (a.longest + TILE - 1) / TILE, first_query = blockIdx.x % tiles * TILE;
	struct sequence sequence = sequence_of(a, blockIdx.x / tiles / a.H);
	if (first_query >= sequence.N)
		return; // the grid has the blocks of the longest sequence
	int head = blockIdx.x / tiles % a.H;
	size_t row = row_of(a, sequence, head, a.H), matrix = row * b.d;
	size_t kv_matrix = row_of(a, sequence, head / (a.H / a.G), a.G) * b.d;
	a.N = sequence.N;
	float slope = slope_of(a, head);

	float p[ROWS][COLUMNS], ds[ROWS][COLUMNS], dq[ROWS][D / LANES_ACROSS];
	clear(dq);
	load_tile<D, TILE>(b.Q + matrix, first_query, a.N, b.d, b.scale, q_tile);
	load_tile<D, TILE>(b.dO + matrix, first_query, a.N, b.d, 1.0f, do_tile);
	load_statistics<TILE>(b.LSE + row, b.delta + row, first_query, a.N, lse_tile, delta_tile);
	int end = keys_of(a, min(first_query + TILE, a.N) - 1).end;
	for (int first_key = keys_of(a, first_query).first / TILE * TILE; first_key < end; first_key += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.K + kv_matrix, first_key, a.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + kv_matrix, first_key, a.N, b.d, 1.0f, v_tile);
		__syncthreads(); // every warp reads rows that other warps loaded

		multiply_rows<D, TILE>(q_tile, k_tile, p);   // S
		multiply_rows<D, TILE>(do_tile, v_tile, ds); // dP
		auto bits = dropped_weights<ROWS * COLUMNS>(a, blockIdx.x / tiles, [=](int e) {
			return make_int2(
				first_query + lane_row() + LANES_DOWN * (e / COLUMNS),
				first_key + lane_column() + LANES_ACROSS * (e % COLUMNS));
		});
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			int tile_row = lane_row() + LANES_DOWN * r, query = first_query + tile_row;
			struct range keys = keys_of(a, query);
			float L = lse_tile[tile_row], delta = delta_tile[tile_row];
#pragma unroll
			for (int t = 0; t < COLUMNS; t++) { // dS = P o (dropout dP - delta) o cap'
				int key = first_key + lane_column() + LANES_ACROSS * t;
				float s = modify(a, slope, p[r][t], query, key);
				float weight = probability(s, L, sees(keys, key));
				ds[r][t] *= dropout_factor(a, bits, r * COLUMNS + t);
				ds[r][t] = weight * (ds[r][t] - delta) * derivative(a, p[r][t]);
			}
		}
		store_slab<TILE>(ds, slab);
		add_products<D, TILE>(slab, k_tile, dq); // dQ += dS K
	}
	store_rows<D>(dq, b.scale, b.dQ + matrix, first_query, a.N, b.d);
}

// dsink[h] = -sum of exp(sink - LSE) D over the queries of head h of every sequence: the sink is a key whose value is 0, so
// dP is 0 and dS = P (0 - D). One warp per head.
__global__ void variant_dsink(struct attention b, struct scores a)
{
	size_t rows = rows_of_head(a);
	float sink = a.sink[blockIdx.x], sum = 0.0f;
	for (size_t i = threadIdx.x; i < rows; i += WARP) {
		size_t row = (i / a.N * a.H + blockIdx.x) * a.N + i % a.N;
		sum -= expf(sink - b.LSE[row]) * b.delta[row];
	}
	sum = sum_over_warp(sum);
	if (threadIdx.x == 0)
		b.dsink[blockIdx.x] = sum;
}

static tile_kernel *const kernels[4][2] = {
	{variant_dq<32, 32>, variant_dq<32, 64>},
	{variant_dq<64, 32>, variant_dq<64, 64>},
	{variant_dq<96, 32>, variant_dq<96, 64>},
	{variant_dq<128, 32>, variant_dq<128, 64>}};

extern "C" cudaError_t launch_dq(struct attention b, struct scores a)
{
	cudaError_t status = launch_tiles(a.H, kernels, b, a);
	if (status != cudaSuccess || !a.sink)
		return status;
	variant_dsink<<<a.H, WARP>>>(b, a);
	return cudaGetLastError();
}
