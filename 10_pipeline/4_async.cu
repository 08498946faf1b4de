/*
 * Chapter 10, fourth of five: async. New since 3_swizzle.cu: K and V are copied to shared memory by cp.async, without a
 * register between, into the same tiles. The next K arrives during P~ V, the next V during Q K^T: a tile is free for its
 * next contents as soon as one of the two products has read it.
 *
 * Build and run: make, or make DEVICE=cuda, for sm_80 and later. Limit: beside the products, a warp still executes more than
 * it must: expf, a multiplication of each score by the scale.
 */
#include "copies.cuh"
#include "tile.cuh"

// Shared memory as in 3_swizzle.cu. What a block does, and what arrives meanwhile:
//
//     block     Q K^T of tile 0 | P~ V of tile 0 | Q K^T of tile 1 | P~ V of tile 1 | ...
//     arrives   V of tile 0     | K of tile 1    | V of tile 1     | K of tile 2    | ...
//             barrier           barrier          barrier           barrier
template <int D>
__global__ __launch_bounds__(shape<D>::THREADS, 2) void async(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, H, N, d]
	const float *V, // [B, H, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int N, int d, bool causal, float scale)
{
	using T = shape<D>;
	using Lanes = lanes_interleaved;
	using Layout = swizzled<D>;
	extern __shared__ __align__(16) float shared[];
	float *Q_tile = shared, *K_tile = Q_tile + T::Br * D, *V_tile = K_tile + Layout::K_FLOATS;
	float *P = V_tile + T::Bc * D;
	size_t head_row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * N;
	int first_row = blockIdx.x * T::Br, lane = threadIdx.x % WARP;
	int own_row = threadIdx.x / WARP * T::WARP_ROWS + Lanes::row(lane); // this lane's first row in the tile
	int own_key = Lanes::key(lane), own_column = own_key * 4;           // its first key, and column of O
	K += head_row * d;
	V += head_row * d;

	copy_tile<D, Layout::k>(K, N, d, K_tile);
	load_tile<D, T::Br, Layout::q>(Q + (head_row + first_row) * d, N - first_row, d, Q_tile);
	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
	start_rows<D>(m, l, o);

	int end = causal ? min(first_row + T::Br, N) : N;
	for (int first_key = 0; first_key < end; first_key += T::Bc) {
		__pipeline_wait_prior(0); // this thread's copies of K have arrived,
		__syncthreads();          // those of all threads; and none reads V any more
		copy_tile<D, T::v>(V + (size_t)first_key * d, N - first_key, d, V_tile);

		float s[T::ROWS][T::KEYS];
		score_tile<D, Layout>(Q_tile, K_tile, own_row, own_key, s);
		scale_tile<D>(scale, s);
		// some row of the block must not see the whole tile
		bool diagonal = causal && first_key + T::Bc - 1 > first_row;
		if (diagonal || first_key + T::Bc > N)
			mask_tile<D>(first_row + own_row, first_key + own_key, N, causal, s);
		exponentiate_tile<D, Lanes, base_e>(s, m, l, o);
		store_slab<D, Layout>(s, P, own_row, own_key);

		__pipeline_wait_prior(0); // this thread's copies of V have arrived,
		__syncthreads();          // those of all threads; and none reads K any more
		int next = first_key + T::Bc;
		if (next < end)
			copy_tile<D, Layout::k>(K + (size_t)next * d, N - next, d, K_tile);
		weigh_tile<D, Layout>(P, V_tile, own_row, own_column, o);
	}
	store_rows<D, Lanes, base_e>(
		o, m, l, first_row + own_row, own_column, N, d, O + head_row * d, LSE + head_row);
}

extern "C" cudaError_t launch_async(struct attention a)
{
	auto *kernel = kernel_for(a.d, async<32>, async<64>, async<96>, async<128>);
	return launch_tiles(kernel, a, dim3(tiles_of_queries(a), a.H, a.B), pipeline_swizzled_bytes(a.d));
}
