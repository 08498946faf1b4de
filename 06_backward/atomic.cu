/*
 * backward_atomic: all three gradients in one pass: dkdv.cu with add_to_dq, in place of dq.cu.
 *
 * A block processes TILE keys with all queries that see them. dK and dV stay in registers; shared memory holds
 *
 *     k_tile v_tile       [TILE, D + 4]     the block's own
 *     q_tile do_tile      [TILE, D + 4]     streamed, Q times scale
 *     slab                [TILE, TILE + 8]  P^T, then dS^T: 16 rows per warp
 *     lse_tile delta_tile     [TILE]            of the streamed queries
 *
 * Not deterministic for three or more tiles of keys: dQ of a query is a sum over blocks, which finish in no particular
 * order. For two tiles, 0 + a + b is the same in both orders.
 *
 * Run: ./backward --kernel backward_atomic. Limit: 10N²d FLOP in place of split's 14, for N d atomics per tile of
 * keys and a dQ whose last bits may differ from run to run.
 */
#include "backward.h"
#include "launch.cuh"
#include "tile_products.cuh"
#include "tile_rows.cuh"

// dQ[i, c] += scale * sum over j of dS[i, j] K[j, c], i a query of this tile, j over the keys of this block only.
// The other blocks of the head add their parts, in any order.
template <int D, int TILE>
__device__ void add_to_dq(
	const float *slab, const float *k_tile, float scale, float *dQ, // [N, d]
	int first_query, int N, int d)
{
	float sums[ROWS][D / LANES_ACROSS], weight[ROWS], k[4];
	int row = threadIdx.x / WARP * ROWS_OF_WARP + row_in_warp() * ROWS; // four neighbors
	clear(sums);
#pragma unroll 4
	for (int j = 0; j < TILE; j++) {
		load4(slab + j * (TILE + SLAB_PAD) + row, weight);
		for (int u = 0; u < D / WARP; u++) {
			load4(k_tile + j * (D + PAD) + WARP * u + 4 * lane_column(), k);
			for (int r = 0; r < ROWS; r++)
				for (int e = 0; e < 4; e++)
					sums[r][4 * u + e] += weight[r] * k[e];
		}
	}
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < D / LANES_ACROSS; c++) {
			int query = first_query + row + r, column = c / 4 * WARP + 4 * lane_column() + c % 4;
			if (query < N && column < d)
				atomicAdd(dQ + (size_t)query * d + column, scale * sums[r][c]);
		}
}

template <int D, int TILE>
__global__ void __launch_bounds__(2 * TILE, 128 / TILE) backward_atomic(struct backward b)
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
		__syncthreads(); // dQ sums over all keys of the block: the slabs of all warps
		add_to_dq<D, TILE>(slab, k_tile, b.scale, b.dQ + matrix, first_query, b.N, b.d);
	}
	store_rows<D>(dk, 1.0f, b.dK + matrix, first_key, b.N, b.d);
	store_rows<D>(dv, 1.0f, b.dV + matrix, first_key, b.N, b.d);
}

static tile_kernel *const kernels[4][2] = {
	{backward_atomic<32, 32>, backward_atomic<32, 64>},
	{backward_atomic<64, 32>, backward_atomic<64, 64>},
	{backward_atomic<96, 32>, backward_atomic<96, 64>},
	{backward_atomic<128, 32>, backward_atomic<128, 64>}};

extern "C" cudaError_t attention_backward_atomic(struct backward b)
{
	size_t bytes = sizeof(float) * b.heads * b.N * b.d;
	cudaError_t status = cudaMemsetAsync(b.dQ, 0, bytes, 0); // blocks only add
	if (status == cudaSuccess)
		status = launch_preprocess(b);
	return status == cudaSuccess ? launch_tiles(kernels, b) : status;
}
