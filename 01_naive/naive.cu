/*
 * Chapter 01: naive attention. This is the definition of attention, one kernel per line.
 *
 *     scores          S = scale Q K^T      one block per row of S, thread t takes keys t, t + 128, ...
 *     softmax_rows    P = softmax(S)       one warp per row
 *     weighted_sum    O = P V              one block per row of O, one thread per column
 *
 * Build and run: make, or make DEVICE=cuda. Limit: it is slow, and arithmetic is not the reason. Each multiply-add
 * loads two numbers again, those of K from as many sectors as lanes; and S and P, N x N elements each, are written to
 * memory and read back, which would remain if the kernels were perfect.
 */
#include "naive.h"

#include <math.h>

constexpr int WARP = 32;
constexpr int SCORE_THREADS = 128;
constexpr int ROWS_PER_BLOCK = 4; // of softmax_rows: one warp each

static_assert(SCORE_THREADS % WARP == 0, "a block is made of whole warps");

// S[i, j] = scale * sum over c of Q[i, c] K[j, c]. The lanes of a warp take neighboring keys. They write neighboring
// elements of S, but read elements of K that lie d floats apart: up to 32 sectors for 32 numbers. Chapter 03: tiles.
__global__ void scores(
	const float *Q, // [heads, N, d]
	const float *K, // [heads, N, d]
	float *S,       // [heads, N, N]
	int N, int d, bool causal, float scale)
{
	size_t row = blockIdx.x; // over all heads: heads * N rows
	size_t head = row / N;
	int i = row % N;
	const float *q = Q + row * d;

	for (int j = threadIdx.x; j < N; j += blockDim.x) {
		const float *k = K + (head * N + j) * d;

		// task 01.score: a score of S, scaled and masked
		float dot = 0.0f;
		for (int c = 0; c < d; c++)
			dot += q[c] * k[c];
		// A masked score is -inf: its exponential is 0. Naive attention computes it all the same.
		S[row * N + j] = causal && j > i ? -INFINITY : scale * dot;
		// end 01.score
	}
}

// Two reductions over the values of 32 lanes; afterwards every lane has the result. All lanes must call them together.
__device__ float max_over_warp(float value)
{
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
	return value;
}

__device__ float sum_over_warp(float value)
{
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		value += __shfl_xor_sync(0xffffffff, value, distance);
	return value;
}

// P[i, j] = exp(S[i, j] - m) / l with m the largest score of the row and l the sum of the exponentials. Without m,
// exp(89) is already infinite. Three passes read the row three times; chapter 02 needs fewer.
__global__ void softmax_rows(
	const float *S, // [rows, N]
	float *P,       // [rows, N]
	size_t rows, int N)
{
	size_t row = blockIdx.x * (size_t)ROWS_PER_BLOCK + threadIdx.x / WARP;
	int lane = threadIdx.x % WARP;
	if (row >= rows)
		return; // the last block may have warps without a row; whole warps leave, so no shuffle waits for one
	const float *s = S + row * N;

	// task 01.softmax: the softmax of a row that cannot overflow
	float m = -INFINITY;
	for (int j = lane; j < N; j += WARP)
		m = fmaxf(m, s[j]);
	m = max_over_warp(m);

	float l = 0.0f;
	for (int j = lane; j < N; j += WARP)
		l += expf(s[j] - m);
	l = sum_over_warp(l);

	for (int j = lane; j < N; j += WARP)
		P[row * N + j] = expf(s[j] - m) / l;
	// end 01.softmax
}

// O[i, c] = sum over j of P[i, j] V[j, c]. All threads of a block read the same P[i, j]; neighboring threads read
// neighboring elements of V.
__global__ void weighted_sum(
	const float *P, // [heads, N, N]
	const float *V, // [heads, N, d]
	float *O,       // [heads, N, d]
	int N, int d)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	int c = threadIdx.x;
	if (c >= d)
		return; // blocks are whole warps; d may be any number

	float sum = 0.0f;
	// task 01.weighted-sum: an element of O
	for (int j = 0; j < N; j++)
		sum += P[row * N + j] * V[(head * N + j) * d + c];
	O[row * d + c] = sum;
	// end 01.weighted-sum
}

extern "C" cudaError_t naive_attention(struct attention a)
{
	size_t rows = (size_t)a.B * a.H * a.N;
	unsigned softmax_blocks = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
	unsigned column_threads = (a.d + WARP - 1) / WARP * WARP;
	if (rows > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks

	scores<<<rows, SCORE_THREADS>>>(a.Q, a.K, a.S, a.N, a.d, a.causal, a.scale);
	cudaError_t status = cudaGetLastError();
	if (status != cudaSuccess)
		return status;
	softmax_rows<<<softmax_blocks, ROWS_PER_BLOCK * WARP>>>(a.S, a.P, rows, a.N);
	status = cudaGetLastError();
	if (status != cudaSuccess)
		return status;
	weighted_sum<<<rows, column_threads>>>(a.P, a.V, a.O, a.N, a.d);
	return cudaGetLastError();
}
