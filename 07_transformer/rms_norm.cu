/*
 * RMSNorm: a row divided by the root of its mean square, each column times a weight. One warp per row: its lanes add up
 * the squares with shuffles, so there is no barrier.
 *
 *     Zhang, Sennrich: Root Mean Square Layer Normalization, 2019.  https://arxiv.org/abs/1910.07467
 */
#include "transformer.h"

constexpr int WARP = 32, WARPS = 4; // of a block

__global__ void rms_norm(
	const float *x,      // [N, C]
	const float *weight, // [C]
	float *y,            // [N, C]
	int N, int C, float epsilon)
{
	int lane = threadIdx.x % WARP, row = blockIdx.x * WARPS + threadIdx.x / WARP;
	if (row >= N) // a whole warp
		return;
	const float *x_row = x + (size_t)row * C;
	float *y_row = y + (size_t)row * C;

	float squares = 0.0f;
	for (int c = lane; c < C; c += WARP) {
		float value = x_row[c];
		squares += value * value;
	}
	for (int step = WARP / 2; step > 0; step /= 2)
		squares += __shfl_xor_sync(0xffffffff, squares, step); // afterwards every lane has the sum

	float inverse = 1.0f / sqrtf(squares / C + epsilon);
	for (int c = lane; c < C; c += WARP)
		y_row[c] = weight[c] * (x_row[c] * inverse);
}

extern "C" cudaError_t launch_rms_norm(const float *x, const float *weight, float *y, int N, int C, float epsilon)
{
	if (N < 1 || C < 1)
		return cudaErrorInvalidValue;
	rms_norm<<<(N + WARPS - 1) / WARPS, WARPS * WARP>>>(x, weight, y, N, C, epsilon);
	return cudaGetLastError();
}
