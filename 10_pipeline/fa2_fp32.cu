/*
 * Chapter 10, last of five: fa2_fp32. New since 4_async.cu: fewer instructions beside the products. Q is multiplied by scale
 * log2 e once, so that P~ is a power of 2, one instruction; and with a causal mask the longest tiles of queries go first.
 *
 * Build and run: make, or make DEVICE=cuda, for sm_80 and later. Limit: fp32, without tensor cores.
 */
#include "copies.cuh"
#include "tile.cuh"

constexpr float LOG2_E = 1.44269504f, LN_2 = 0.693147181f;

// exp2f as nvcc compiles it takes three instructions more, for results below 2^-126. Here they become 0: beside the row's
// largest weight, 1, such a weight does not count.
struct base_2 {
	static __device__ float power(float x)
	{
		float y;
		asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
		return y;
	}
	static __device__ float ln_of_sum(float m, float l) { return (m + log2f(l)) * LN_2; }
};

// Shared memory, and what arrives when, as in 4_async.cu.
template <int D>
__global__ __launch_bounds__(shape<D>::THREADS, 2) void fa2_fp32(
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
	int tiles = (N + T::Br - 1) / T::Br, heads = gridDim.x / tiles, tile = blockIdx.x / heads;
	if (causal)
		tile = tiles - 1 - tile; // blocks begin in their order, and the last tile sees most keys
	size_t head_row = (size_t)(blockIdx.x % heads) * N;
	int first_row = tile * T::Br, lane = threadIdx.x % WARP;
	int own_row = threadIdx.x / WARP * T::WARP_ROWS + Lanes::row(lane); // this lane's first row in the tile
	int own_key = Lanes::key(lane), own_column = own_key * 4;           // its first key, and column of O
	K += head_row * d;
	V += head_row * d;

	copy_tile<D, Layout::k>(K, N, d, K_tile);
	load_tile<D, T::Br, Layout::q>(Q + (head_row + first_row) * d, N - first_row, d, Q_tile, scale * LOG2_E);
	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
	start_rows<D>(m, l, o);

	int end = causal ? min(first_row + T::Br, N) : N;
	for (int first_key = 0; first_key < end; first_key += T::Bc) {
		__pipeline_wait_prior(0); // this thread's copies of K have arrived,
		__syncthreads();          // those of all threads; and none reads V any more
		copy_tile<D, T::v>(V + (size_t)first_key * d, N - first_key, d, V_tile);

		float s[T::ROWS][T::KEYS];
		score_tile<D, Layout>(Q_tile, K_tile, own_row, own_key, s);
		// some row of the block must not see the whole tile
		bool diagonal = causal && first_key + T::Bc - 1 > first_row;
		if (diagonal || first_key + T::Bc > N)
			mask_tile<D>(first_row + own_row, first_key + own_key, N, causal, s);
		exponentiate_tile<D, Lanes, base_2>(s, m, l, o);
		store_slab<D, Layout>(s, P, own_row, own_key);

		__pipeline_wait_prior(0); // this thread's copies of V have arrived,
		__syncthreads();          // those of all threads; and none reads K any more
		int next = first_key + T::Bc;
		if (next < end)
			copy_tile<D, Layout::k>(K + (size_t)next * d, N - next, d, K_tile);
		weigh_tile<D, Layout>(P, V_tile, own_row, own_column, o);
	}
	store_rows<D, Lanes, base_2>(
		o, m, l, first_row + own_row, own_column, N, d, O + head_row * d, LSE + head_row);
}

extern "C" cudaError_t launch_fa2_fp32(struct attention a)
{
	auto *kernel = kernel_for(a.d, fa2_fp32<32>, fa2_fp32<64>, fa2_fp32<96>, fa2_fp32<128>);
	return launch_tiles(kernel, a, dim3(tiles_of_queries(a) * a.H * a.B), pipeline_swizzled_bytes(a.d));
}
