/*
 * Chapter 05, beside the ladder: fa2_modified. New since split_q.cu: changes of scores (modified.cuh). The loop over keys
 * begins with the first key that the query tile sees; `modify` and the mask change the scores; m and l start with the sink;
 * dropout changes the weights, but not l; K and V may have fewer heads than Q; and sequences may be packed.
 *
 * Build and run: make, then ./fa2 --window 64. Limit: P~ is a power of e, which takes four instructions more than the
 * power of 2 of fa2_split_q, and every score is tested for the mask, even in tiles without a masked score.
 */
#include "modified.cuh"
#include "modified_dropout.cuh"
#include "slab.cuh"
#include "warp_tile.cuh"

// Modifies the scores; they become -inf if the row does not see the key. first_row, first_key: of this lane's first score.
template <int D>
__device__ void modify_tile(
	const struct scores &a, float slope, int first_row, int first_key,
	float s[warp_shape<D>::ROWS][warp_shape<D>::KEYS])
{
	using T = warp_shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		int row = first_row + r * T::LANE_ROWS;
		struct range keys = keys_of(a, row);
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			int key = first_key + j * T::LANE_KEYS;
			s[r][j] = sees(keys, key) ? modify(a, slope, s[r][j], row, key) : -INFINITY;
		}
	}
}

template <int D>
__device__ void drop_weights(
	const struct scores &a, int head, int first_row, int first_key,
	float p[warp_shape<D>::ROWS][warp_shape<D>::KEYS])
{
	using T = warp_shape<D>;
	auto bits = dropped_weights<T::ROWS * T::KEYS>(a, head, [=](int e) {
		return make_int2(first_row + e / T::KEYS * T::LANE_ROWS, first_key + e % T::KEYS * T::LANE_KEYS);
	});
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			p[r][j] *= dropout_factor(a, bits, r * T::KEYS + j);
}

// Shared memory: that of fa2_split_q.
template <int D>
__global__ __launch_bounds__(THREADS, 2) void fa2_modified(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, G, N, d]
	const float *V, // [B, G, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int d, float scale, struct scores a)
{
	using T = warp_shape<D>;
	constexpr int Br = WARPS * T::WARP_ROWS, Bc = T::Bc;
	extern __shared__ __align__(16) float shared[];
	float *Q_tile = shared, *K_tile = Q_tile + Br * D, *V_tile = K_tile + Bc * T::K_STRIDE;
	float *P_slabs = V_tile + Bc * D;
	struct sequence sequence = sequence_of(a, blockIdx.z);
	int head = blockIdx.y, kv_head = head / (a.H / a.G), first_row = blockIdx.x * Br;
	if (first_row >= sequence.N)
		return; // the grid has the blocks of the longest sequence
	size_t head_row = row_of(a, sequence, head, a.H), kv_row = row_of(a, sequence, kv_head, a.G);
	a.N = sequence.N;
	int lane_row = threadIdx.x % WARP / T::LANE_KEYS, lane_key = threadIdx.x % T::LANE_KEYS;
	int own_row = threadIdx.x / WARP * T::WARP_ROWS + lane_row; // this lane's first row in the tile
	float *P = P_slabs + own_row * T::P_STRIDE, slope = slope_of(a, head);

	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
	start_rows<D>(m, l, o);
	float first_max = a.sink ? a.sink[head] : LOWEST;
	for (int r = 0; r < T::ROWS; r++) { // the sink is treated as a first key without a value: o stays 0
		m[r] = first_max;
		l[r] = a.sink && lane_key == 0 ? 1.0f : 0.0f; // of the eight lanes that share the row, one has it
	}
	load_tile_by_fours<D, Br, THREADS>(Q + (head_row + first_row) * d, a.N - first_row, d, scale, Q_tile, D);

	// tiles that no row sees are not loaded
	int end = keys_of(a, min(first_row + Br, a.N) - 1).end;
	for (int first_key = keys_of(a, first_row).first / Bc * Bc; first_key < end; first_key += Bc) {
		size_t tile = (kv_row + first_key) * d;
		__syncthreads(); // without it a fast lane overwrites K, V or P~ that a slow one still reads
		load_tile_by_fours<D, Bc, THREADS>(K + tile, a.N - first_key, d, 1.0f, K_tile, T::K_STRIDE);
		load_tile_by_fours<D, Bc, THREADS>(V + tile, a.N - first_key, d, 1.0f, V_tile, D);
		__syncthreads(); // without it a fast warp reads rows of Q, K and V that are not there yet

		float s[T::ROWS][T::KEYS];
		score_tile<D, T::K_STRIDE>(Q_tile + own_row * D, K_tile + lane_key * T::K_STRIDE, s);
		modify_tile<D>(a, slope, first_row + own_row, first_key + lane_key, s);
		exponentiate_tile<D, BASE_E>(s, m, l, o);
		drop_weights<D>(a, blockIdx.z * a.H + head, first_row + own_row, first_key + lane_key, s);
		store_slab<D>(s, P + lane_key);
		__syncwarp(); // without it a lane reads weights of its row that another lane has not written yet
		weigh_tile<D>(P, V_tile + lane_key * 4, o);
	}
	store_rows<D, BASE_E>(o, m, l, first_row + own_row, lane_key, a.N, d, O + head_row * d, LSE + head_row);
}

extern "C" cudaError_t launch_fa2_modified(struct attention a, struct scores scores)
{
	auto *kernel = kernel_for(a.d, fa2_modified<32>, fa2_modified<64>, fa2_modified<96>, fa2_modified<128>);
	size_t bytes = fa2_split_q_shared_bytes(a.d);
	if (!usable(a) || scores.G < 1 || scores.H % scores.G != 0)
		return cudaErrorInvalidValue;
	int Br = fa2_split_q_tile(a.d).Br;
	dim3 grid(round_up(scores.longest, Br) / Br, a.H, scores.sequences);
	cudaError_t status = opt_in(kernel, bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<grid, THREADS, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.d, a.scale, scores);
	return cudaGetLastError();
}
