/*
 * Chapter 00, eighth of eight: sum_shuffle, y_r = the sum of row r. New: the lanes of a warp read each other's registers with
 * shuffles, which need neither shared memory nor a barrier. One barrier is left, between the warps.
 *
 * Build and run: make build && ./gpu --kernel sum_shuffle. Limit: one thread adds up the last eight numbers while 255
 * wait; for eight that costs less than another tree.
 */
#include "blocks.cuh"

// A block adds up one row. At distance 16 lane 0 adds the sum of lane 16 to its own, lane 1 that of lane 17, and so on; at
// distance 8 lane 0 adds that of lane 8; after distance 1 lane 0 has the sum of its warp.
__global__ void sum_shuffle(
	const float *x, // [R, C]
	float *y,       // [R]
	size_t cols)
{
	__shared__ float warps[WARPS];
	float sum = 0.0f;
	for (size_t j = threadIdx.x; j < cols; j += THREADS)
		sum += x[blockIdx.x * cols + j];
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		sum += __shfl_down_sync(0xffffffff, sum, distance); // 0xffffffff: all 32 lanes take part
	if (threadIdx.x % WARP == 0)
		warps[threadIdx.x / WARP] = sum;
	__syncthreads(); // without it thread 0 reads sums that other warps have not written yet
	if (threadIdx.x == 0) {
		for (int w = 1; w < WARPS; w++)
			sum += warps[w];
		y[blockIdx.x] = sum;
	}
}

extern "C" cudaError_t launch_sum_shuffle(struct matrix m)
{
	sum_shuffle<<<m.rows, THREADS>>>(m.x, m.y, m.cols);
	return cudaGetLastError();
}
