/*
 * backward_dkdv: dK and dV, the second kernel of backward_split. P is recomputed tile by tile, from Q, K and LSE.
 *
 * A block processes TILE keys with all queries that see them. dK and dV stay in registers; shared memory holds
 *
 *     k_tile v_tile       [TILE, D + 4]     the block's own
 *     q_tile do_tile      [TILE, D + 4]     streamed, Q times scale
 *     slab                [TILE, TILE + 8]  P^T, then dS^T: 16 rows per warp
 *     lse_tile delta_tile     [TILE]            of the streamed queries
 *
 * Deterministic: dK and dV of a key are summed by one block, in the order of the queries.
 *
 * Run: ./backward --kernel backward_split. Limit: of the instructions that an SM issues, one in six or seven is no
 * multiplication of a product; and while a tile is on its way, its block computes nothing.
 */
#include "backward.h"
#include "launch.cuh"
#include "tile_products.cuh"
#include "tile_rows.cuh"

template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) backward_dkdv(struct backward b)
{
	extern __shared__ float4 shared_memory[];
	float *k_tile = (float *)shared_memory, *v_tile = k_tile + TILE * (D + PAD);
	float *q_tile = v_tile + TILE * (D + PAD), *do_tile = q_tile + TILE * (D + PAD);
	float *slab = do_tile + TILE * (D + PAD);
	float *lse_tile = slab + TILE * (TILE + SLAB_PAD), *delta_tile = lse_tile + TILE;
	int tiles = (b.N + TILE - 1) / TILE;
	size_t head = blockIdx.x / tiles, matrix = head * b.N * b.d;
	int first_key = blockIdx.x % tiles * TILE;

	float p[ROWS][TILE / LANES_ACROSS], ds[ROWS][TILE / LANES_ACROSS];
	float dk[ROWS][D / LANES_ACROSS], dv[ROWS][D / LANES_ACROSS];
	clear(dk);
	clear(dv);
	load_tile<D, TILE>(b.K + matrix, first_key, b.N, b.d, 1.0f, k_tile);
	load_tile<D, TILE>(b.V + matrix, first_key, b.N, b.d, 1.0f, v_tile);
	// Causal: queries before first_key see none of these keys.
	for (int first_query = b.causal ? first_key : 0; first_query < b.N; first_query += TILE) {
		__syncthreads(); // a slow warp may still be reading the last tiles
		load_tile<D, TILE>(b.Q + matrix, first_query, b.N, b.d, b.scale, q_tile);
		load_tile<D, TILE>(b.dO + matrix, first_query, b.N, b.d, 1.0f, do_tile);
		load_statistics<TILE>(
			b.LSE + head * b.N, b.delta + head * b.N, first_query, b.N, lse_tile, delta_tile);
		__syncthreads(); // every warp reads rows that other warps loaded

		// task 06.ds: P, dV, dP, dS, dK of a tile of queries
		multiply_rows<D, TILE>(k_tile, q_tile, p); // S^T
		weigh_keys<TILE>(p, lse_tile, first_key, first_query, b);
		store_slab<TILE>(p, slab);
		add_products<D, TILE>(slab, do_tile, dv); // dV += P^T dO

		multiply_rows<D, TILE>(v_tile, do_tile, ds); // dP^T
		for (int r = 0; r < ROWS; r++)
			for (int t = 0; t < TILE / LANES_ACROSS; t++) // dS^T = P^T o (dP^T - delta)
				ds[r][t] = p[r][t] * (ds[r][t] - delta_tile[lane_column() + LANES_ACROSS * t]);
		store_slab<TILE>(ds, slab);
		// dK += dS^T (scale Q)
		add_products<D, TILE>(slab, q_tile, dk);
		// end 06.ds
	}
	store_rows<D>(dk, 1.0f, b.dK + matrix, first_key, b.N, b.d);
	store_rows<D>(dv, 1.0f, b.dV + matrix, first_key, b.N, b.d);
}

static tile_kernel *const kernels[4][2] = {
	{backward_dkdv<32, 32>, backward_dkdv<32, 64>},
	{backward_dkdv<64, 32>, backward_dkdv<64, 64>},
	{backward_dkdv<96, 32>, backward_dkdv<96, 64>},
	{backward_dkdv<128, 32>, backward_dkdv<128, 64>}};

extern "C" cudaError_t launch_dkdv(struct backward b)
{
	return launch_tiles(kernels, b);
}
