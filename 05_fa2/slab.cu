/*
 * Chapter 05, third of four: fa2_slab. New since tile.cu: shared memory is laid out for its banks. P~ is exchanged
 * through a slab of it instead of one shuffle per weight, and the rows of K and of the slab are padded.
 *
 * Build and run: make, or make DEVICE=cuda. Limit: a block is still one warp, so each tile of K and V is fetched four
 * times as often as with 128 rows.
 */
#include "slab.cuh"
#include "warp_tile.cuh"

// Shared memory:
//
//     | Q tile [Br, D] | K tile [Bc, D + 4] | V tile [Bc, D] | P~ slab [Br, Bc + 4 or 8] |   of one block, which is one warp
template <int D>
__global__ __launch_bounds__(WARP) void fa2_slab(
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
	int own_row = lane_row;        // this lane's first row in the tile
	int own_column = lane_key * 4; // and its first column of O
	float *P = P_slab + own_row * T::P_STRIDE;

	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
	start_rows<D>(m, l, o);
	load_tile_float4<D, Br, WARP>(Q + (head_row + first_row) * d, N - first_row, d, Q_tile, D);

	// task 05.skip: tiles above the diagonal are not loaded
	int end = causal ? min(first_row + Br, N) : N;
	// end 05.skip
	for (int first_key = 0; first_key < end; first_key += Bc) {
		size_t offset = (head_row + first_key) * d;
		__syncthreads(); // without it a fast lane overwrites K, V or P~ that a slow one still reads
		load_tile_float4<D, Bc, WARP>(K + offset, N - first_key, d, K_tile, T::K_STRIDE);
		load_tile_float4<D, Bc, WARP>(V + offset, N - first_key, d, V_tile, D);
		__syncthreads(); // without it a fast lane reads rows of Q, K and V that are not there yet

		float s[T::ROWS][T::KEYS];
		score_tile<D, T::K_STRIDE>(Q_tile + own_row * D, K_tile + lane_key * T::K_STRIDE, s);
		scale_tile<D>(scale, s);
		// some row of the block must not see the whole tile
		bool diagonal = causal && first_key + Bc - 1 > first_row;
		if (diagonal || first_key + Bc > N)
			mask_tile<D>(first_row + own_row, first_key + lane_key, N, causal, s);
		exponentiate_tile<D>(s, m, l, o);
		store_slab<D>(s, P + lane_key);
		__syncwarp(); // without it a lane reads weights of its row that another lane has not written yet
		weigh_tile<D>(P, V_tile + own_column, o);
	}
	store_rows<D>(o, m, l, first_row + own_row, own_column, N, d, O + head_row * d, LSE + head_row);
}

extern "C" cudaError_t launch_fa2_slab(struct attention a)
{
	auto *kernel = kernel_for(a.d, fa2_slab<32>, fa2_slab<64>, fa2_slab<96>, fa2_slab<128>);
	return launch_tiles(kernel, a, fa2_warp_tile(a.d).Br, WARP, fa2_slab_shared_bytes(a.d));
}

extern "C" size_t fa2_slab_shared_bytes(int d)
{
	return sizeof(float) *
	       kernel_for(d, slab_floats<32, 1>(), slab_floats<64, 1>(), slab_floats<96, 1>(), slab_floats<128, 1>());
}
