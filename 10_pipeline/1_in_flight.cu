/*
 * Chapter 10, first of five: in_flight. New since chapter 05's fa2_split_q: a thread loads its whole part of a tile of K,
 * then of V, into registers before it stores any of it: all these loads wait at the same time. (The FMA's order is new, too.)
 *
 * Build and run: make, or make DEVICE=cuda. Limit: lanes and banks are as in chapter 05, so that every 16-byte load of K and
 * V takes twice the wavefronts it could, and so does one of Q.
 */
#include "tile.cuh"

// Shared memory, and who owns what, as in chapter 05:
//
//     | Q tile [Br, D] | K tile [Bc, D + 4] | V tile [Bc, D] | P~ slabs [Br, Bc + 4 or 8] |
//       written by all, read by all: __syncthreads             one slab per warp: __syncwarp
template <int D>
__global__ __launch_bounds__(shape<D>::THREADS, 2) void in_flight(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, H, N, d]
	const float *V, // [B, H, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int N, int d, bool causal, float scale)
{
	using T = shape<D>;
	using Lanes = lanes_in_rows;
	using Layout = padded<D>;
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

extern "C" cudaError_t launch_in_flight(struct attention a)
{
	auto *kernel = kernel_for(a.d, in_flight<32>, in_flight<64>, in_flight<96>, in_flight<128>);
	return launch_tiles(kernel, a, dim3(tiles_of_queries(a), a.H, a.B), pipeline_padded_bytes(a.d));
}

extern "C" struct pipeline_shape pipeline_shape(int d)
{
	return kernel_for<struct pipeline_shape>(
		d, {shape<32>::Br, shape<32>::Bc, shape<32>::THREADS},
		{shape<64>::Br, shape<64>::Bc, shape<64>::THREADS},
		{shape<96>::Br, shape<96>::Bc, shape<96>::THREADS},
		{shape<128>::Br, shape<128>::Bc, shape<128>::THREADS});
}

extern "C" size_t pipeline_padded_bytes(int d)
{
	return sizeof(float) * kernel_for(
				       d, block_floats<32, padded<32>>(), block_floats<64, padded<64>>(),
				       block_floats<96, padded<96>>(), block_floats<128, padded<128>>());
}
