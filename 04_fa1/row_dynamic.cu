/*
 * Chapter 04, third of three: fa1_row_dynamic, row.cu with d known only at run time. New: d replaces D, and a
 * count of keys replaces KEYS. A loop whose length is not known cannot be unrolled completely (unless an array in it
 * bounds the length), and an array indexed by its counter cannot be kept in registers (registers have no addresses): q, o and s are in local memory, which is a part of HBM and
 * is cached in L1. The counts here do not show this; ptxas does (make ptxas).
 */
#include "launch.cuh"
#include "load_run.cuh"

#include <math.h>

constexpr int SCORES_AT_ONCE = 64;

// row.cuh's attend, of any number of keys up to SCORES_AT_ONCE.
__device__ void attend_dynamic(
	const float *q,      // [d]
	const float *K_tile, // [keys, d] shared
	const float *V_tile, // [keys, d] shared
	int d, int keys, int visible, float scale,
	float *o, // [d]
	float *m, float *l)
{
	float s[SCORES_AT_ONCE];
	float m_new = *m;
	for (int j = 0; j < keys; j++) {
		s[j] = 0.0f;
		for (int c = 0; c < d; c++)
			s[j] += q[c] * K_tile[j * d + c];
		s[j] = j < visible ? scale * s[j] : -INFINITY;
		m_new = fmaxf(m_new, s[j]);
	}
	float correction = expf(*m - m_new);
	*m = m_new;
	*l *= correction;
	for (int j = 0; j < keys; j++) {
		s[j] = expf(s[j] - m_new);
		*l += s[j];
	}
	for (int c = 0; c < d; c++) {
		o[c] *= correction;
		for (int j = 0; j < keys; j++)
			o[c] += s[j] * V_tile[j * d + c];
	}
}

// Shared memory:   | K tile  [Bc, d] | V tile  [Bc, d] |   written by all, read by all
//
// The arrays can hold MOST_DIM columns, of which d are used. The launch bounds ask for one block per SM only (the 1): for
// more, ptxas would spill, and the stack frame would hold more than q, o and s.
template <int MOST_DIM>
__global__ __launch_bounds__(FA1_MOST_ROW_THREADS, 1) void fa1_row_dynamic(
	const float *Q, // [B, H, N, d]
	const float *K, // [B, H, N, d]
	const float *V, // [B, H, N, d]
	float *O,       // [B, H, N, d]
	float *LSE,     // [B, H, N]
	int N, int d, int Bc, bool causal, float scale)
{
	extern __shared__ float shared[];
	float *K_tile = shared, *V_tile = K_tile + Bc * d;
	int Br = blockDim.x; // rows of a query tile

	size_t head = blockIdx.x;
	for (int first_row = 0; first_row < N; first_row += Br) { // query tiles, one after the other
		int row = first_row + threadIdx.x;
		const float *q_row = Q + (head * N + row) * d;
		float q[MOST_DIM], o[MOST_DIM], m = -INFINITY, l = 0.0f;
		for (int c = 0; c < d; c++) {
			q[c] = row < N ? q_row[c] : 0.0f; // a thread without a row helps to load tiles
			o[c] = 0.0f;
		}

		for (int first_key = 0; first_key < N; first_key += Bc) { // one tile of K and V after another
			int keys = min(Bc, N - first_key);
			size_t tile = (head * N + first_key) * d;
			__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
			load_run(K + tile, keys * d, K_tile);
			load_run(V + tile, keys * d, V_tile);
			__syncthreads(); // without it a fast warp reads keys that are not there yet
			int visible = causal ? min(keys, row - first_key + 1) : keys;
			for (int j = 0; j < keys; j += SCORES_AT_ONCE)
				attend_dynamic(
					q, K_tile + j * d, V_tile + j * d, d, min(SCORES_AT_ONCE, keys - j),
					visible - j, scale, o, &m, &l);
		}
		if (row < N) { // the last tile may have more threads than rows
			float *o_row = O + (head * N + row) * d;
			for (int c = 0; c < d; c++)
				o_row[c] = o[c] / l;
			LSE[head * N + row] = m + logf(l);
		}
	}
}

extern "C" cudaError_t launch_fa1_row_dynamic(struct attention a)
{
	if (!usable(a) || !rows_fit(a.tile))
		return cudaErrorInvalidValue;
	auto *kernel = a.d <= 64 ? &fa1_row_dynamic<64> : &fa1_row_dynamic<FA1_MOST_DIM>;
	size_t bytes = fa1_row_dynamic_shared_bytes(a.d, a.tile);
	cudaError_t status = opt_in(kernel, bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<a.B * a.H, a.tile.Br, bytes>>>(a.Q, a.K, a.V, a.O, a.LSE, a.N, a.d, a.tile.Bc, a.causal, a.scale);
	return cudaGetLastError();
}

extern "C" size_t fa1_row_dynamic_shared_bytes(int d, struct tile tile)
{
	return sizeof(float) * 2 * d * (size_t)tile.Bc;
}
