/*
 * Chapter 05, last of four: fa2_split_q. New since slab.cu: four warps split the query tile of a block and share each tile of
 * K and V. The warps exchange no numbers.
 *
 * Build and run: make, or make DEVICE=cuda. Limit: it requests a quarter of the bytes of shared memory that
 * fa2_row requests, but it is still fp32, without tensor cores.
 */
#include "slab.cuh"
#include "warp_tile.cuh"

// Shared memory:
//
//     | Q tile [Br, D] | K tile [Bc, D + 4] | V tile [Bc, D] | P~ slabs [Br, Bc + 4 or 8] |
//       written by all, read by all: __syncthreads             one slab per warp: __syncwarp
//
//     warp 0 owns rows 0 ... WARP_ROWS - 1 of Q, P~ and O, warp 1 the next, ...; each warp reads all of K and V.
//     The warps exchange no numbers. FlashAttention-1's released code split K between them and had to add up results.
template <int D>
__global__ __launch_bounds__(THREADS, 2) void fa2_split_q(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, H, N, d]
	const float *V, // [B, H, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int N, int d, bool causal, float scale)
{
	using T = warp_shape<D>;
	constexpr int Br = WARPS * T::WARP_ROWS, Bc = T::Bc;
	extern __shared__ __align__(16) float shared[];
	float *Q_tile = shared, *K_tile = Q_tile + Br * D, *V_tile = K_tile + Bc * T::K_STRIDE;
	float *P_slabs = V_tile + Bc * D;
	size_t head_row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * N;
	int first_row = blockIdx.x * Br;
	int lane_row = threadIdx.x % WARP / T::LANE_KEYS, lane_key = threadIdx.x % T::LANE_KEYS;
	int own_row = threadIdx.x / WARP * T::WARP_ROWS + lane_row; // this lane's first row in the tile
	int own_column = lane_key * 4;                              // and its first column of O
	float *P = P_slabs + own_row * T::P_STRIDE;

	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
	start_rows<D>(m, l, o);
	load_tile_float4<D, Br, THREADS>(Q + (head_row + first_row) * d, N - first_row, d, Q_tile, D);

	// task 05.skip: tiles above the diagonal are not loaded
	int end = causal ? min(first_row + Br, N) : N;
	// end 05.skip
	for (int first_key = 0; first_key < end; first_key += Bc) {
		size_t offset = (head_row + first_key) * d;
		__syncthreads(); // without it a fast lane overwrites K, V or P~ that a slow one still reads
		load_tile_float4<D, Bc, THREADS>(K + offset, N - first_key, d, K_tile, T::K_STRIDE);
		load_tile_float4<D, Bc, THREADS>(V + offset, N - first_key, d, V_tile, D);
		__syncthreads(); // without it a fast warp reads rows of Q, K and V that are not there yet

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

extern "C" cudaError_t launch_fa2_split_q(struct attention a)
{
	auto *kernel = kernel_for(a.d, fa2_split_q<32>, fa2_split_q<64>, fa2_split_q<96>, fa2_split_q<128>);
	return launch_tiles(kernel, a, fa2_split_q_tile(a.d).Br, THREADS, fa2_split_q_shared_bytes(a.d));
}

extern "C" struct tile fa2_split_q_tile(int d)
{
	struct tile tile = fa2_warp_tile(d);
	return {WARPS * tile.Br, tile.Bc};
}

extern "C" size_t fa2_split_q_shared_bytes(int d)
{
	return sizeof(float) * kernel_for(
				       d, slab_floats<32, WARPS>(), slab_floats<64, WARPS>(),
				       slab_floats<96, WARPS>(), slab_floats<128, WARPS>());
}
