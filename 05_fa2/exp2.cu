/*
 * Chapter 05, fourth of five: fa2_exp2. New since slab.cu: P~ is a power of 2: the hardware has no instruction for e^x.
 * The scale and log2 e are multiplied into Q, once for each of its elements, no longer into each score.
 *
 * Build and run: make, or make DEVICE=cuda. Limit: the counts do not show the difference, because expf and exp2f count
 * the same; `make sass` does.
 */
#include "slab.cuh"
#include "warp_tile.cuh"

// Shared memory:
//
//     | Q tile [Br, D] | K tile [Bc, D + 4] | V tile [Bc, D] | P~ slab [Br, Bc + 4 or 8] |   of one block, which is one warp
template <int D>
__global__ __launch_bounds__(WARP) void fa2_exp2(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, H, N, d]
	const float *V, // [B, H, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int N, int d, bool causal, float scale)
{
	using T = warp_shape<D>;
	constexpr int Br = T::WARP_ROWS, Bc = T::Bc;
	extern __shared__ __align__(16) float shared[];
	float *Q_tile = shared, *K_tile = Q_tile + Br * D, *V_tile = K_tile + Bc * T::K_STRIDE;
	float *P_slab = V_tile + Bc * D;
	size_t head_row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * N;
	int first_row = blockIdx.x * Br;
	int lane_row = threadIdx.x % WARP / T::LANE_KEYS, lane_key = threadIdx.x % T::LANE_KEYS;
	int own_row = lane_row; // this lane's first row in the tile
	float *P = P_slab + own_row * T::P_STRIDE;

	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
	start_rows<D>(m, l, o);
	// The factor of Q makes P~ a power of 2: one multiplication per element of Q, none per score.
	load_tile_by_fours<D, Br, WARP>(Q + (head_row + first_row) * d, N - first_row, d, scale * LOG2_E, Q_tile, D);

	// task 05.skip: tiles above the diagonal are not loaded
	int end = causal ? min(first_row + Br, N) : N;
	// end 05.skip
	for (int first_key = 0; first_key < end; first_key += Bc) {
		size_t tile = (head_row + first_key) * d;
		__syncthreads(); // without it a fast lane overwrites K, V or P~ that a slow one still reads
		load_tile_by_fours<D, Bc, WARP>(K + tile, N - first_key, d, 1.0f, K_tile, T::K_STRIDE);
		load_tile_by_fours<D, Bc, WARP>(V + tile, N - first_key, d, 1.0f, V_tile, D);
		__syncthreads(); // without it a fast lane reads rows of Q, K and V that are not there yet

		float s[T::ROWS][T::KEYS];
		score_tile<D, T::K_STRIDE>(Q_tile + own_row * D, K_tile + lane_key * T::K_STRIDE, s);
		// some row of the block must not see the whole tile
		bool diagonal = causal && first_key + Bc - 1 > first_row;
		if (diagonal || first_key + Bc > N)
			mask_tile<D>(first_row + own_row, first_key + lane_key, N, causal, s);
		exponentiate_tile<D, BASE_2>(s, m, l, o);
		store_slab<D>(s, P + lane_key);
		__syncwarp(); // without it a lane reads weights of its row that another lane has not written yet
		weigh_tile<D>(P, V_tile + lane_key * 4, o);
	}
	store_rows<D, BASE_2>(o, m, l, first_row + own_row, lane_key, N, d, O + head_row * d, LSE + head_row);
}

extern "C" cudaError_t launch_fa2_exp2(struct attention a)
{
	auto *kernel = kernel_for(a.d, fa2_exp2<32>, fa2_exp2<64>, fa2_exp2<96>, fa2_exp2<128>);
	return launch_tiles(kernel, a, fa2_warp_tile(a.d).Br, WARP, fa2_slab_shared_bytes(a.d));
}
