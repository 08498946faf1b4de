/*
 * fa1_row of chapter 04, fa2_row of chapter 05: a thread owns a query row and keeps q, o, l and m in registers while the
 * block loads one tile of K and V after another. New since chapter 03: S is never written. Of a row of S only the running
 * maximum m and the sum l are kept, as in chapter 02, and o is divided once, at the end.
 *
 * The two files differ in the loop over query tiles: in chapter 04 a block runs it; in chapter 05 the grid replaces it, and
 * tiles above the diagonal of a causal mask are not loaded. `diff -w ../04_fa1/row.cu ../05_fa2/row.cu` shows that.
 */
#include "launch.cuh"
#include "row.cuh"

#include <math.h>

// Shared memory:   | K tile  [padded, D] | V tile  [padded, D] |   padded: Bc, up to a whole number of key groups
//
// All threads fill it, all read it, each for its own row. All lanes of a warp read the same element: a broadcast.
template <int D>
__global__ __launch_bounds__(FA1_MOST_ROW_THREADS) void fa1_row(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, H, N, d]
	const float *V, // [B, H, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int N, int d, int Bc, bool causal, float scale)
{
	constexpr int KEYS = KEYS_AT_ONCE<D>;
	extern __shared__ __align__(16) float shared[]; // aligned, so that nvcc may read four columns at once
	float *K_tile = shared, *V_tile = K_tile + round_up(Bc, KEYS) * D;
	int Br = blockDim.x; // rows of a query tile

	size_t head = blockIdx.x;
	for (int first_row = 0; first_row < N; first_row += Br) { // query tiles, one after the other
		int end = N; // of the keys: a causal mask hides some, but skips no tile
		int row = first_row + threadIdx.x;
		const float *q_row = Q + (head * N + row) * d;
		float q[D], o[D] = {}, m = -INFINITY, l = 0.0f;
#pragma unroll
		for (int c = 0; c < D; c++)
			q[c] = row < N && c < d ? q_row[c] : 0.0f; // a thread without a row helps to load tiles

		for (int first_key = 0; first_key < end; first_key += Bc) { // one tile of K and V after another
			int keys = min(Bc, N - first_key), padded = round_up(keys, KEYS);
			size_t offset = (head * N + first_key) * d;
			__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
			load_tile<D>(K + offset, keys, d, padded, K_tile);
			load_tile<D>(V + offset, keys, d, padded, V_tile);
			__syncthreads(); // without it a fast warp reads keys that are not there yet
			int visible = causal ? min(keys, row - first_key + 1) : keys;
			for (int j = 0; j < keys; j += KEYS)
				attend<D, KEYS>(q, K_tile + j * D, V_tile + j * D, visible - j, scale, o, &m, &l);
		}
		if (row < N) { // the last tile may have more threads than rows
			float *o_row = O + (head * N + row) * d;
#pragma unroll
			for (int c = 0; c < D; c++)
				if (c < d) // beyond d lies the next row, which another thread is writing
					o_row[c] = o[c] / l;
			LSE[head * N + row] = m + logf(l);
		}
	}
}

extern "C" cudaError_t launch_fa1_row(struct attention a)
{
	if (!usable(a) || !rows_fit(a.tile))
		return cudaErrorInvalidValue;
	auto *kernel = kernel_for(a.d, fa1_row<32>, fa1_row<64>, fa1_row<96>, fa1_row<128>);
	dim3 grid(a.B * a.H);
	size_t bytes = row_shared_bytes(a.d, a.tile.Bc);
	cudaError_t status = opt_in(kernel, bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<grid, a.tile.Br, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.tile.Bc, a.causal, a.scale);
	return cudaGetLastError();
}

extern "C" size_t fa_row_shared_bytes(int d, struct tile tile)
{
	return row_shared_bytes(d, tile.Bc);
}
