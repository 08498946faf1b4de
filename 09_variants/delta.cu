/*
 * variant_delta: delta, which launch_dkdv and launch_dq read. delta[i] = sum over c of dO[i, c] O[i, c]: chapter 06's preprocess.cu,
 * and nothing is new, whatever is done to the scores. O was computed with the sink and with dropout, so delta holds both.
 *
 * Run: ./variants --kernel dq. Limit: it is run before what is counted (chapter 06 counts it): 2Nd FLOP per head.
 */
#include "tiles.cuh"

constexpr int ROWS_PER_BLOCK = 4;

// One warp per row.
__global__ void variant_delta(
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
	for (int c = lane; c < d; c += WARP)
		sum += dO[row * d + c] * O[row * d + c];
	sum = sum_over_warp(sum);
	if (lane == 0)
		delta[row] = sum;
}

extern "C" cudaError_t launch_delta(struct attention b, struct scores a)
{
	size_t rows = a.H * rows_of_head(a);
	if (rows > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks
	unsigned blocks = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
	variant_delta<<<blocks, ROWS_PER_BLOCK * WARP>>>(b.dO, b.O, b.delta, rows, b.d);
	return cudaGetLastError();
}
