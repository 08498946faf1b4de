/*
 * backward_dq: dQ, the third kernel of backward_split. dkdv.cu with the roles of queries and keys exchanged.
 *
 * A block processes TILE queries with all keys that they see. dQ stays in registers; shared memory holds
 *
 *     q_tile do_tile      [TILE, D + 4]     the block's own, Q times scale
 *     k_tile v_tile       [TILE, D + 4]     streamed
 *     slab                [TILE, TILE + 8]  dS: 16 rows per warp
 *     lse_tile delta_tile     [TILE]            of the block's own queries
 *
 * Deterministic: dQ of a query is summed by one block, in the order of the keys.
 *
 * Run: ./backward --kernel backward_split. Limit: two of its three products, S and dP, were computed by
 * backward_dkdv, too, which does not store them.
 */
#include "backward.h"
#include "launch.cuh"
#include "tile_products.cuh"
#include "tile_rows.cuh"

template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) backward_dq(struct backward b)
{
	extern __shared__ float4 shared_memory[];
	float *q_tile = (float *)shared_memory, *do_tile = q_tile + TILE * (D + PAD);
	float *k_tile = do_tile + TILE * (D + PAD), *v_tile = k_tile + TILE * (D + PAD);
	float *slab = v_tile + TILE * (D + PAD);
	float *lse_tile = slab + TILE * (TILE + SLAB_PAD), *delta_tile = lse_tile + TILE;
	int tiles = (b.N + TILE - 1) / TILE;
	size_t head = blockIdx.x / tiles, matrix = head * b.N * b.d;
	int first_query = blockIdx.x % tiles * TILE;
	int keys = b.causal ? min(first_query + TILE, b.N) : b.N; // later tiles hold nothing these queries see

	float p[ROWS][TILE / LANES_ACROSS], ds[ROWS][TILE / LANES_ACROSS], dq[ROWS][D / LANES_ACROSS];
	clear(dq);
	load_tile<D, TILE>(b.Q + matrix, first_query, b.N, b.d, b.scale, q_tile);
	load_tile<D, TILE>(b.dO + matrix, first_query, b.N, b.d, 1.0f, do_tile);
	load_statistics<TILE>(b.LSE + head * b.N, b.delta + head * b.N, first_query, b.N, lse_tile, delta_tile);
	for (int first_key = 0; first_key < keys; first_key += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
		load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
		__syncthreads(); // every warp reads rows that other warps loaded

		// task 06.dq: dS once more, for dQ
		multiply_rows<D, TILE>(q_tile, k_tile, p);   // S
		multiply_rows<D, TILE>(do_tile, v_tile, ds); // dP
		for (int r = 0; r < ROWS; r++) {
			int row = lane_row() + LANES_DOWN * r, query = first_query + row;
			float L = lse_tile[row], delta = delta_tile[row];
			for (int t = 0; t < TILE / LANES_ACROSS; t++) { // dS = P o (dP - delta)
				int key = first_key + lane_column() + LANES_ACROSS * t;
				float weight = probability(p[r][t], L, key < b.N && (!b.causal || key <= query));
				ds[r][t] = weight * (ds[r][t] - delta);
			}
		}
		store_slab<TILE>(ds, slab);
		// dQ += dS K
		add_products<D, TILE>(slab, k_tile, dq);
		// end 06.dq
	}
	store_rows<D>(dq, b.scale, b.dQ + matrix, first_query, b.N, b.d);
}

static tile_kernel *const kernels[4][2] = {
	{backward_dq<32, 32>, backward_dq<32, 64>},
	{backward_dq<64, 32>, backward_dq<64, 64>},
	{backward_dq<96, 32>, backward_dq<96, 64>},
	{backward_dq<128, 32>, backward_dq<128, 64>}};

extern "C" cudaError_t launch_dq(struct backward b)
{
	return launch_tiles(kernels, b);
}
