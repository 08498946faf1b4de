/*
 * Chapter 05, second of two: fa2_split_q. New since row.cu: the warps of a block split the query tile, and a thread
 * computes small tiles of scores and output in registers, from 16-byte reads. Scores are powers of 2: exp2f is what
 * the hardware has. No number goes from warp to warp.
 *
 * Build and run: make, or make DEVICE=cuda. Honestly: it asks shared memory for a quarter of the bytes that fa2_row
 * does, but it is fp32 still, without tensor cores.
 */
#include "launch.cuh"
#include "split_q.cuh"

#include <math.h>

constexpr float LOG2_E = 1.44269504f; // exp(x) = exp2(x log2 e)
constexpr float LN_2 = 0.693147181f;

// s = Q K^T for ROWS x KEYS elements. Four columns at a time: ROWS + KEYS loads of 16 bytes for ROWS KEYS 4 FMA.
template <int D>
__device__ void score_tile(
	const float *Q, // this lane's first row; rows 4 D apart
	const float *K, // this lane's first key; keys 8 K_STRIDE apart
	float s[split<D>::ROWS][split<D>::KEYS])
{
	using T = split<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			s[r][j] = 0.0f;
#pragma unroll 2
	for (int c = 0; c < D; c += 4) {
		float4 q[T::ROWS];
#pragma unroll
		for (int r = 0; r < T::ROWS; r++)
			q[r] = *(const float4 *)(Q + r * T::LANE_ROWS * D + c);
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			float4 k = *(const float4 *)(K + j * T::LANE_KEYS * T::K_STRIDE + c);
#pragma unroll
			for (int r = 0; r < T::ROWS; r++) {
				s[r][j] += q[r].x * k.x;
				s[r][j] += q[r].y * k.y;
				s[r][j] += q[r].z * k.z;
				s[r][j] += q[r].w * k.w;
			}
		}
	}
}

// Scores above the diagonal and past the last key become -inf. first_row, first_key: of this lane's first score.
template <int D>
__device__ void mask_tile(int first_row, int first_key, int N, bool causal, float s[split<D>::ROWS][split<D>::KEYS])
{
	using T = split<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			int row = first_row + r * T::LANE_ROWS, key = first_key + j * T::LANE_KEYS;
			if (key >= N || (causal && key > row))
				s[r][j] = -INFINITY;
		}
}

// Scores, in powers of 2, become P~ = 2^(s - m) in the warp's slab; O and l are corrected for the new maximum. A
// row's maximum is that of the 8 lanes which hold its keys: three shuffles. l stays a sum of this lane's keys until
// the end.
template <int D>
__device__ void exponentiate_tile(
	float s[split<D>::ROWS][split<D>::KEYS], float m[split<D>::ROWS], float l[split<D>::ROWS],
	float o[split<D>::ROWS][split<D>::COLUMNS],
	float *P) // this lane's first row and key in the slab
{
	using T = split<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		// task 05.rescale: the new maximum of a row that eight lanes share
		float m_new = m[r];
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			m_new = fmaxf(m_new, s[r][j]);
		for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)
			m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffff, m_new, lanes));
		// m_new is finite: every row sees key 0, which comes first.
		float correction = exp2f(m[r] - m_new);
		m[r] = m_new;
		l[r] *= correction;
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			float p = exp2f(s[r][j] - m_new);
			l[r] += p;
			P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS] = p;
		}
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c++)
			o[r][c] *= correction;
		// end 05.rescale
	}
}

// o += P~ V. Four keys at a time: ROWS + COLUMNS loads of 16 bytes for ROWS COLUMNS 4 FMA.
template <int D>
__device__ void weigh_tile(
	const float *P, // this lane's first row in the slab; rows 4 P_STRIDE apart
	const float *V, // this lane's first columns; keys D apart
	float o[split<D>::ROWS][split<D>::COLUMNS])
{
	using T = split<D>;
#pragma unroll 1
	for (int j = 0; j < T::Bc; j += 4) {
		float4 p[T::ROWS];
#pragma unroll
		for (int r = 0; r < T::ROWS; r++)
			p[r] = *(const float4 *)(P + r * T::LANE_ROWS * T::P_STRIDE + j);
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c += 4)
#pragma unroll
			for (int key = 0; key < 4; key++) {
				float4 v = *(const float4 *)(V + (j + key) * D + c * T::LANE_KEYS);
#pragma unroll
				for (int r = 0; r < T::ROWS; r++) {
					float weight = key == 0   ? p[r].x
					               : key == 1 ? p[r].y
					               : key == 2 ? p[r].z
					                          : p[r].w;
					o[r][c] += weight * v.x;
					o[r][c + 1] += weight * v.y;
					o[r][c + 2] += weight * v.z;
					o[r][c + 3] += weight * v.w;
				}
			}
	}
}

// O / l and LSE, once. l is now summed over the 8 lanes that share a row.
template <int D>
__device__ void store_rows(
	const float o[split<D>::ROWS][split<D>::COLUMNS], const float m[split<D>::ROWS],
	const float l[split<D>::ROWS], int first_row, int lane_column, int N, int d,
	float *O,   // [N, d] of this head
	float *LSE) // [N] of this head
{
	using T = split<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		int row = first_row + r * T::LANE_ROWS;
		float sum = l[r];
		for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)
			sum += __shfl_xor_sync(0xffffffff, sum, lanes);
		if (row >= N)
			continue; // the last tile may be ragged; asked only here, because shuffles need all lanes
		float inverse = 1.0f / sum;
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c += 4)
			store_four(
				O + (size_t)row * d, lane_column * 4 + c * T::LANE_KEYS, d,
				{o[r][c] * inverse, o[r][c + 1] * inverse, o[r][c + 2] * inverse,
			         o[r][c + 3] * inverse});
		if (lane_column == 0)
			LSE[row] = m[r] * LN_2 + logf(sum);
	}
}

// Shared memory:
//
//     | Q tile [Br, D] | K tile [Bc, D + 4] | V tile [Bc, D] | P~ slabs [Br, Bc + 4 or 8] |
//       written by all, read by all: __syncthreads             one slab per warp: __syncwarp
//
//     warp 0 owns rows 0 ... WARP_ROWS - 1 of Q, P~ and O, warp 1 the next, ...; each warp reads all of K and V.
//     No number goes from warp to warp: FlashAttention-1's released code split K between them and had to add up.
template <int D>
__global__ __launch_bounds__(THREADS, 2) void fa2_split_q(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, H, N, d]
	const float *V, // [B, H, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int N, int d, bool causal, float scale)
{
	using T = split<D>;
	constexpr int Br = T::Br, Bc = T::Bc;
	extern __shared__ __align__(16) float shared[];
	float *Q_tile = shared, *K_tile = Q_tile + Br * D, *V_tile = K_tile + Bc * T::K_STRIDE;
	float *P_slabs = V_tile + Bc * D;
	size_t head_row = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * N;
	int first_row = blockIdx.x * Br;
	int lane_row = threadIdx.x % WARP / T::LANE_KEYS, lane_key = threadIdx.x % T::LANE_KEYS;
	int own_row = threadIdx.x / WARP * T::WARP_ROWS + lane_row; // this lane's first row in the tile
	float *P = P_slabs + own_row * T::P_STRIDE;

	float m[T::ROWS], l[T::ROWS], o[T::ROWS][T::COLUMNS];
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		m[r] = -INFINITY;
		l[r] = 0.0f;
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c++)
			o[r][c] = 0.0f;
	}
	// Scores come out as powers of 2: one multiplication for each element of Q, none for each score.
	load_tile_by_fours<D, Br>(Q + (head_row + first_row) * d, N - first_row, d, scale * LOG2_E, Q_tile, D);

	// task 05.skip: tiles above the diagonal are not loaded
	int end = causal ? min(first_row + Br, N) : N;
	// end 05.skip
	for (int first_key = 0; first_key < end; first_key += Bc) {
		size_t tile = (head_row + first_key) * d;
		__syncthreads(); // without it a fast lane overwrites K, V or P~ that a slow one still reads
		load_tile_by_fours<D, Bc>(K + tile, N - first_key, d, 1.0f, K_tile, T::K_STRIDE);
		load_tile_by_fours<D, Bc>(V + tile, N - first_key, d, 1.0f, V_tile, D);
		__syncthreads(); // without it a fast warp reads rows of Q, K and V that are not there yet

		float s[T::ROWS][T::KEYS];
		score_tile<D>(Q_tile + own_row * D, K_tile + lane_key * T::K_STRIDE, s);
		// some row of the block must not see the whole tile
		bool diagonal = causal && first_key + Bc - 1 > first_row;
		if (diagonal || first_key + Bc > N)
			mask_tile<D>(first_row + own_row, first_key + lane_key, N, causal, s);
		exponentiate_tile<D>(s, m, l, o, P + lane_key);
		__syncwarp(); // without it a lane reads weights of its row that another lane has not written yet
		weigh_tile<D>(P, V_tile + lane_key * 4, o);
	}
	store_rows<D>(o, m, l, first_row + own_row, lane_key, N, d, O + head_row * d, LSE + head_row);
}

extern "C" cudaError_t launch_fa2_split_q(struct attention a)
{
	if (!usable(a))
		return cudaErrorInvalidValue;
	auto *kernel = kernel_for(a.d, fa2_split_q<32>, fa2_split_q<64>, fa2_split_q<96>, fa2_split_q<128>);
	int Br = fa2_split_q_tile(a.d).Br;
	dim3 grid(round_up(a.N, Br) / Br, a.H, a.B);
	size_t bytes = fa2_split_q_shared_bytes(a.d);
	cudaError_t status = opt_in(kernel, bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<grid, THREADS, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.causal, a.scale);
	return cudaGetLastError();
}
