/*
 * FlashAttention without copies of the heads: chapter 05's fa2_row, with strides for rows and heads. Three things are new:
 *
 *   strides        a head is d columns of a row, not an array of its own: no copy before, none after
 *   groups         H / G query heads share a head of K and V
 *   an offset      the N queries are the last of M tokens, so that one kernel processes a prompt (N = M) and a new token (N = 1)
 *
 * `diff -w 05_fa2/row.cu 07_transformer/attention.cu` shows them.
 */
#include "row.cuh"

#include <math.h>

// Shared memory:   | K tile  [padded, D] | V tile  [padded, D] |   padded: Bc, up to a whole number of key groups
template <int D>
__global__ __launch_bounds__(MOST_ROW_THREADS) void attention_rows(struct attention a)
{
	constexpr int KEYS = KEYS_AT_ONCE<D>;
	extern __shared__ __align__(16) float shared[]; // aligned, so that nvcc may read four columns at once
	float *K_tile = shared, *V_tile = K_tile + round_up(a.Bc, KEYS) * D;

	int head = blockIdx.y, first_row = blockIdx.x * blockDim.x, row = first_row + threadIdx.x;

	// task 07.heads: where a head lies, and which tokens the queries are
	int kv_head = head / (a.H / a.G);
	const float *K = a.K + kv_head * a.kv.head, *V = a.V + kv_head * a.kv.head;
	const float *q_row = a.Q + row * a.q.row + head * a.q.head;
	int past = a.M - a.N; // tokens before the first query
	int end = a.causal ? min(past + first_row + (int)blockDim.x, a.M) : a.M;
	// end 07.heads

	float q[D], o[D] = {}, m = -INFINITY, l = 0.0f;
#pragma unroll
	for (int c = 0; c < D; c++)
		q[c] = row < a.N && c < a.d ? q_row[c] : 0.0f; // a thread without a row only helps to load tiles

	for (int first_key = 0; first_key < end; first_key += a.Bc) { // one tile of K and V after another
		int keys = min(a.Bc, a.M - first_key), padded = round_up(keys, KEYS);
		__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads
		load_tile<D>(K + first_key * a.kv.row, a.kv.row, keys, a.d, padded, K_tile);
		load_tile<D>(V + first_key * a.kv.row, a.kv.row, keys, a.d, padded, V_tile);
		__syncthreads(); // without it a fast warp reads keys that are not there yet
		int visible = a.causal ? min(keys, past + row - first_key + 1) : keys;
		for (int j = 0; j < keys && row < a.N; j += KEYS) // a decoded token has one row
			attend<D, KEYS>(q, K_tile + j * D, V_tile + j * D, visible - j, a.scale, o, &m, &l);
	}
	if (row < a.N) { // the last tile may have more threads than rows
		float *o_row = a.O + row * a.o.row + head * a.o.head;
#pragma unroll
		for (int c = 0; c < D; c++)
			if (c < a.d) // beyond d lies the next head, which another block is writing
				o_row[c] = o[c] / l;
	}
}

extern "C" cudaError_t launch_attention(struct attention a)
{
	bool usable = a.N >= 1 && a.M >= a.N && a.G >= 1 && a.H >= 1 && a.H <= MOST_HEADS && a.H % a.G == 0 &&
	              a.d >= 1 && a.d <= MOST_HEAD_DIM && a.Br >= 1 && a.Br <= MOST_ROW_THREADS && a.Bc >= 1;
	if (!usable)
		return cudaErrorInvalidValue;
	auto *kernel = a.d <= 32   ? attention_rows<32>
	               : a.d <= 64 ? attention_rows<64>
	               : a.d <= 96 ? attention_rows<96>
	                           : attention_rows<128>;
	size_t bytes = row_shared_bytes(a.d, a.Bc);
	cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (status != cudaSuccess)
		return status;
	dim3 grid((a.N + a.Br - 1) / a.Br, a.H);
	kernel<<<grid, a.Br, bytes>>>(a);
	return cudaGetLastError();
}

extern "C" size_t attention_shared_bytes(int d, int Bc)
{
	return row_shared_bytes(d, Bc);
}
