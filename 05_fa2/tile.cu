/*
 * Chapter 05, second of four: fa2_tile. New since row.cu: a warp works together. Its lanes form 4 rows x 8 columns, and each
 * lane computes a small tile of scores and one of O in registers: 16 loads of 16 bytes feed 256 FMA. A row's maximum takes
 * three shuffles, and shuffles also bring P~ for the product with V. (At D = 96 and 128 the tiles are smaller: shape.cuh.)
 *
 * Build and run: make, or make DEVICE=cuda. Limit: the rows of K in shared memory begin in the same bank, and a block
 * is one warp, so each warp fetches all of K and V for itself.
 */
#include "warp_tile.cuh"

// o += P~ V, key by key. The weight of key 8 j + lane is in that lane of the eight that share the row. One shuffle per row
// and key reads it, for COLUMNS FMA.
template <int D>
__device__ void weigh_by_shuffles(
	const float p[warp_shape<D>::ROWS][warp_shape<D>::KEYS],
	const float *V, // this lane's first columns; keys D apart
	float o[warp_shape<D>::ROWS][warp_shape<D>::COLUMNS])
{
	using T = warp_shape<D>;
#pragma unroll
	for (int j = 0; j < T::KEYS; j++)
#pragma unroll 1 // unrolled, nvcc spills at D = 32 (sm_90)
		for (int lane = 0; lane < T::LANE_KEYS; lane++) {
			float weights[T::ROWS];
#pragma unroll
			for (int r = 0; r < T::ROWS; r++)
				weights[r] = __shfl_sync(0xffffffff, p[r][j], lane, T::LANE_KEYS);
#pragma unroll
			for (int c = 0; c < T::COLUMNS; c += 4) {
				float4 v = *(const float4 *)(V + (j * T::LANE_KEYS + lane) * D + c * T::LANE_KEYS);
#pragma unroll
				for (int r = 0; r < T::ROWS; r++) {
					o[r][c] += weights[r] * v.x;
					o[r][c + 1] += weights[r] * v.y;
					o[r][c + 2] += weights[r] * v.z;
					o[r][c + 3] += weights[r] * v.w;
				}
			}
		}
}

// Shared memory:   | Q tile [Br, D] | K tile [Bc, D] | V tile [Bc, D] |   of one block, which is one warp
template <int D>
__global__ __launch_bounds__(WARP) void fa2_tile(
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
	float *Q_tile = shared, *K_tile = Q_tile + Br * D, *V_tile = K_tile + Bc * D;
	size_t head_row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * N;
	int first_row = blockIdx.x * Br;
	int lane_row = threadIdx.x % WARP / T::LANE_KEYS, lane_key = threadIdx.x % T::LANE_KEYS;
	int own_row = lane_row;        // this lane's first row in the tile
	int own_column = lane_key * 4; // and its first column of O

	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
	start_rows<D>(m, l, o);
	load_tile_float4<D, Br, WARP>(Q + (head_row + first_row) * d, N - first_row, d, Q_tile, D);

	// task 05.skip: tiles above the diagonal are not loaded
	int end = causal ? min(first_row + Br, N) : N;
	// end 05.skip
	for (int first_key = 0; first_key < end; first_key += Bc) {
		size_t offset = (head_row + first_key) * d;
		__syncthreads(); // without it a fast lane overwrites K or V that a slow one still reads
		load_tile_float4<D, Bc, WARP>(K + offset, N - first_key, d, K_tile, D);
		load_tile_float4<D, Bc, WARP>(V + offset, N - first_key, d, V_tile, D);
		__syncthreads(); // without it a fast lane reads rows of Q, K and V that are not there yet

		float s[T::ROWS][T::KEYS];
		score_tile<D, D>(Q_tile + own_row * D, K_tile + lane_key * D, s);
		scale_tile<D>(scale, s);
		// some row of the block must not see the whole tile
		bool diagonal = causal && first_key + Bc - 1 > first_row;
		if (diagonal || first_key + Bc > N)
			mask_tile<D>(first_row + own_row, first_key + lane_key, N, causal, s);
		exponentiate_tile<D>(s, m, l, o);
		weigh_by_shuffles<D>(s, V_tile + own_column, o);
	}
	store_rows<D>(o, m, l, first_row + own_row, own_column, N, d, O + head_row * d, LSE + head_row);
}

extern "C" cudaError_t launch_fa2_tile(struct attention a)
{
	auto *kernel = kernel_for(a.d, fa2_tile<32>, fa2_tile<64>, fa2_tile<96>, fa2_tile<128>);
	return launch_tiles(kernel, a, fa2_warp_tile(a.d).Br, WARP, fa2_tile_shared_bytes(a.d));
}

extern "C" struct tile fa2_warp_tile(int d)
{
	int Br = kernel_for(
		d, warp_shape<32>::WARP_ROWS, warp_shape<64>::WARP_ROWS, warp_shape<96>::WARP_ROWS,
		warp_shape<128>::WARP_ROWS);
	int Bc = kernel_for(d, warp_shape<32>::Bc, warp_shape<64>::Bc, warp_shape<96>::Bc, warp_shape<128>::Bc);
	return {Br, Bc};
}

extern "C" size_t fa2_tile_shared_bytes(int d)
{
	return sizeof(float) *
	       kernel_for(d, plain_floats<32>(), plain_floats<64>(), plain_floats<96>(), plain_floats<128>());
}
