/*
 * backward_naive. New since chapter 05: gradients of the same attention, one kernel per line of the derivation.
 *
 *     probabilities   P = exp(S - L)       gradient_of_s   dS = P o (dP - delta)
 *     gradient_of_v   dV = P^T dO          gradient_of_q   dQ = scale dS K
 *     gradient_of_p   dP = dO V^T          gradient_of_k   dK = scale dS^T Q
 *
 * Build and run: make, then ./backward --kernel backward_naive; make DEVICE=cuda on a GPU. Limit: P, dP and dS are
 * N x N each and go through HBM, 8N² elements for 10N²d FLOP; split and atomic keep them on the chip.
 */
#include "backward.h"
#include "rows.cuh"

constexpr int ROW_THREADS = 128; // of a kernel with one block per row

// P[i, j] = exp(S[i, j] - L[i]). The score is summed exactly as in multiply_rows (tile_products.cuh): scale q first,
// then one fused multiply-add per column, from the first to the last.
__global__ void probabilities(
	const float *Q,   // [heads, N, d]
	const float *K,   // [heads, N, d]
	const float *LSE, // [heads, N]
	float *P,         // [heads, N, N]
	int N, int d, bool causal, float scale)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	int i = row % N;
	for (int j = threadIdx.x; j < N; j += blockDim.x) {
		float score = 0.0f;
		for (int c = 0; c < d; c++)
			score = fmaf(scale * Q[row * d + c], K[(head * N + j) * d + c], score);
		P[row * N + j] = probability(score, LSE[row], !causal || j <= i);
	}
}

// Row j of A^T B times a factor: sum over i of A[i, j] B[i, c], one block per j, one thread per c.
__device__ void transposed_product(
	const float *A, // [heads, N, N]
	const float *B, // [heads, N, d]
	float *result,  // [heads, N, d]
	int N, int d, float factor)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	int j = row % N, c = threadIdx.x;
	if (c >= d)
		return; // blocks are whole warps; d may be any number
	float sum = 0.0f;
	for (int i = 0; i < N; i++)
		sum += A[(head * N + i) * N + j] * B[(head * N + i) * d + c];
	result[row * d + c] = factor * sum;
}

// dV = P^T dO
__global__ void gradient_of_v(const float *P, const float *dO, float *dV, int N, int d)
{
	transposed_product(P, dO, dV, N, d, 1.0f);
}

// dP = dO V^T
__global__ void gradient_of_p(
	const float *dO, // [heads, N, d]
	const float *V,  // [heads, N, d]
	float *dP,       // [heads, N, N]
	int N, int d)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	for (int j = threadIdx.x; j < N; j += blockDim.x) {
		float sum = 0.0f;
		for (int c = 0; c < d; c++)
			sum += dO[row * d + c] * V[(head * N + j) * d + c];
		dP[row * N + j] = sum;
	}
}

// dS = P o (dP - delta), where delta[i] = sum over j of P[i, j] dP[i, j]: the softmax Jacobian diag(p) - p p^T, times dP.
__global__ void gradient_of_s(
	const float *P,  // [rows, N]
	const float *dP, // [rows, N]
	float *dS,       // [rows, N]
	size_t rows, int N)
{
	size_t row = blockIdx.x * (size_t)ROWS_PER_BLOCK + threadIdx.x / WARP;
	int lane = threadIdx.x % WARP;
	if (row >= rows)
		return; // the whole warp returns: no shuffle waits for it
	float delta = 0.0f;
	for (int j = lane; j < N; j += WARP)
		delta += P[row * N + j] * dP[row * N + j];
	delta = sum_over_warp(delta);
	for (int j = lane; j < N; j += WARP)
		dS[row * N + j] = P[row * N + j] * (dP[row * N + j] - delta);
}

// dQ = scale dS K
__global__ void gradient_of_q(
	const float *dS, // [heads, N, N]
	const float *K,  // [heads, N, d]
	float *dQ,       // [heads, N, d]
	int N, int d, float scale)
{
	size_t row = blockIdx.x;
	size_t head = row / N;
	int c = threadIdx.x;
	if (c >= d)
		return; // blocks are whole warps
	float sum = 0.0f;
	for (int j = 0; j < N; j++)
		sum += dS[row * N + j] * K[(head * N + j) * d + c];
	dQ[row * d + c] = scale * sum;
}

// dK = scale dS^T Q
__global__ void gradient_of_k(const float *dS, const float *Q, float *dK, int N, int d, float scale)
{
	transposed_product(dS, Q, dK, N, d, scale);
}

extern "C" cudaError_t attention_backward_naive(struct backward b)
{
	size_t rows = (size_t)b.heads * b.N;
	unsigned warps = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK,
		 column_threads = (b.d + WARP - 1) / WARP * WARP;
	if (rows > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks

	probabilities<<<rows, ROW_THREADS>>>(b.Q, b.K, b.LSE, b.P, b.N, b.d, b.causal, b.scale);
	gradient_of_v<<<rows, column_threads>>>(b.P, b.dO, b.dV, b.N, b.d);
	gradient_of_p<<<rows, ROW_THREADS>>>(b.dO, b.V, b.dP, b.N, b.d);
	gradient_of_s<<<warps, ROWS_PER_BLOCK * WARP>>>(b.P, b.dP, b.dS, rows, b.N);
	gradient_of_q<<<rows, column_threads>>>(b.dS, b.K, b.dQ, b.N, b.d, b.scale);
	gradient_of_k<<<rows, column_threads>>>(b.dS, b.Q, b.dK, b.N, b.d, b.scale);
	return cudaGetLastError(); // of any of the six: an error is kept until it is read
}
