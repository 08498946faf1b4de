/*
 * Chapter 10, third of five: swizzle. New since 2_lanes.cu: no padding of K and P~; XOR moves elements of Q, K and P~
 * within their 32 floats, the line `using Layout`. No two lanes of a pass meet in a bank any more, and a block needs less memory.
 *
 * Build and run: make, or make DEVICE=cuda. Limit: while a tile is fetched, a warp computes nothing.
 */
#include "tile.cuh"

// Shared memory, and who owns what, as in chapter 05, without padding:
//
//     | Q tile [Br, D] | K tile [Bc, D] | V tile [Bc, D] | P~ slabs [Br, Bc] |
//       written by all, read by all: __syncthreads     one slab per warp: __syncwarp
template <int D>
__global__ __launch_bounds__(shape<D>::THREADS, 2) void swizzle(
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

	load_tile<D, T::Br, Layout::q>(Q + (head_row + first_row) * d, N - first_row, d, Q_tile);
	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
	start_rows<D>(m, l, o);

	int end = causal ? min(first_row + T::Br, N) : N;
	for (int first_key = 0; first_key < end; first_key += T::Bc) {
		size_t offset = (head_row + first_key) * d;
		__syncthreads(); // without it a fast lane overwrites K, V or P~ that a slow one still reads
		load_tile<D, T::Bc, Layout::k>(K + offset, N - first_key, d, K_tile);
		load_tile<D, T::Bc, T::v>(V + offset, N - first_key, d, V_tile);
		__syncthreads(); // without it a fast warp reads rows of Q, K and V that are not there yet

		float s[T::ROWS][T::KEYS];
		score_tile<D, Layout>(Q_tile, K_tile, own_row, own_key, s);
		scale_tile<D>(scale, s);
		// some row of the block must not see the whole tile
		bool diagonal = causal && first_key + T::Bc - 1 > first_row;
		if (diagonal || first_key + T::Bc > N)
			mask_tile<D>(first_row + own_row, first_key + own_key, N, causal, s);
		exponentiate_tile<D, Lanes, base_e>(s, m, l, o);
		store_slab<D, Layout>(s, P, own_row, own_key);
		__syncwarp(); // without it a lane reads weights of its row that another lane has not written yet
		weigh_tile<D, Layout>(P, V_tile, own_row, own_column, o);
	}
	store_rows<D, Lanes, base_e>(
		o, m, l, first_row + own_row, own_column, N, d, O + head_row * d, LSE + head_row);
}

extern "C" cudaError_t launch_swizzle(struct attention a)
{
	auto *kernel = kernel_for(a.d, swizzle<32>, swizzle<64>, swizzle<96>, swizzle<128>);
	return launch_tiles(kernel, a, dim3(tiles_of_queries(a), a.H, a.B), pipeline_swizzled_bytes(a.d));
}

extern "C" size_t pipeline_swizzled_bytes(int d)
{
	return sizeof(float) * kernel_for(
				       d, block_floats<32, swizzled<32>>(), block_floats<64, swizzled<64>>(),
				       block_floats<96, swizzled<96>>(), block_floats<128, swizzled<128>>());
}
