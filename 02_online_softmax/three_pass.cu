/*
 * Chapter 02, first of three: softmax_three_pass, y = softmax(x) by its definition: maximum, sum, quotient. Each pass
 * needs the result of the one before it, so x is read three times. Of partial.cuh it uses only
 * `weight`.
 *
 * Build and run: make build && ./online_softmax --kernel softmax_three_pass. Limit: if a row fits into a cache,
 * HBM delivers it only once.
 */
#include "online_softmax.h"

#include "partial.cuh"

// The two reductions a softmax needs when maximum and sum are passes of their own. All threads of the thread block must
// call them together; afterwards every thread has the result.
__device__ float max_over_block(float value, float *warps) // warps [WARPS], shared
{
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
	if (threadIdx.x % WARP == 0)
		warps[threadIdx.x / WARP] = value;
	__syncthreads(); // without it a warp reads maxima that other warps have not written yet
	float all = warps[0];
	for (int w = 1; w < WARPS; w++)
		all = fmaxf(all, warps[w]);
	__syncthreads(); // without it sum_over_block overwrites warps[] while slower warps still read it
	return all;
}

__device__ float sum_over_block(float value, float *warps) // warps [WARPS], shared
{
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		value += __shfl_xor_sync(0xffffffff, value, distance);
	if (threadIdx.x % WARP == 0)
		warps[threadIdx.x / WARP] = value;
	__syncthreads(); // without it a warp reads sums that other warps have not written yet
	float all = warps[0];
	for (int w = 1; w < WARPS; w++)
		all += warps[w];
	__syncthreads(); // without it a later reduction overwrites warps[] while slower warps still read it
	return all;
}

__global__ void softmax_three_pass(
	const float *x, // [R, C]
	float *y,       // [R, C]
	float *m_out,   // [R]
	float *l_out,   // [R]
	int cols)
{
	__shared__ float warps[WARPS];
	size_t row = blockIdx.x;
	x += row * cols;
	y += row * cols;

	float m = -INFINITY;
	for (int j = threadIdx.x; j < cols; j += THREADS)
		m = fmaxf(m, x[j]);
	m = max_over_block(m, warps);

	float l = 0.0f;
	for (int j = threadIdx.x; j < cols; j += THREADS)
		l += weight(x[j], m);
	l = sum_over_block(l, warps);

	for (int j = threadIdx.x; j < cols; j += THREADS) {
		float share = weight(x[j], m);
		y[j] = l > 0.0f ? share / l : 0.0f; // a row of nothing but -inf: 0, not 0/0
	}
	if (threadIdx.x == 0) {
		m_out[row] = m;
		l_out[row] = l;
	}
}

extern "C" cudaError_t launch_softmax_three_pass(struct softmax s)
{
	softmax_three_pass<<<s.rows, THREADS>>>(s.x, s.y, s.m, s.l, s.cols);
	return cudaGetLastError();
}
