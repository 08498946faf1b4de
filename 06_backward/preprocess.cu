/*
 * backward_preprocess: delta (D in the paper), the first kernel of backward_split and of backward_atomic.
 *
 * delta[i] = sum over c of dO[i, c] O[i, c], which equals the sum over j of P[i, j] dP[i, j]: d terms instead of N.
 *
 * Run: ./backward --kernel backward_split. Limit: it is bound by HBM, one multiplication for two numbers read, and
 * it has little to do: 2Nd FLOP, where the kernels after it have 10N²d or more.
 */
#include "backward.h"
#include "rows.cuh"

// One warp per row.
__global__ void backward_preprocess(
	const float *dO, // [rows, d]
	const float *O,  // [rows, d]
	float *delta,    // [rows]
	size_t rows, int d)
{
	size_t row = blockIdx.x * (size_t)ROWS_PER_BLOCK + threadIdx.x / WARP;
	int lane = threadIdx.x % WARP;
	if (row >= rows)
		return; // the whole warp returns: no shuffle waits for it
	float sum = 0.0f;
	// task 06.delta: delta, the sum over keys without any key
	for (int c = lane; c < d; c += WARP)
		sum += dO[row * d + c] * O[row * d + c];
	sum = sum_over_warp(sum);
	if (lane == 0)
		delta[row] = sum;
	// end 06.delta
}

extern "C" cudaError_t launch_preprocess(struct backward b)
{
	size_t rows = (size_t)b.heads * b.N;
	if (rows > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks
	unsigned blocks = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
	backward_preprocess<<<blocks, ROWS_PER_BLOCK * WARP>>>(b.dO, b.O, b.delta, rows, b.d);
	return cudaGetLastError();
}
