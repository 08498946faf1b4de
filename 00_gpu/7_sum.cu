/*
 * Chapter 00, seventh of eight: sum, y_r = the sum of row r. New: a reduction. 256 threads have 256 partial sums; a tree
 * in shared memory, with a barrier at each level, adds them up to one.
 *
 * Build and run: make build && ./gpu --kernel sum. Limit: at the last levels most threads do nothing.
 */
#include "blocks.cuh"

// A block adds up one row. Each thread adds up every 256th element. Then 128 threads add the sums of the other 128 to
// their own, then 64 threads those of the next 64, and so on, until partial[0] is the sum of the row.
__global__ void sum(
	const float *x, // [R, C]
	float *y,       // [R]
	size_t cols)
{
	__shared__ float partial[THREADS];
	float thread_sum = 0.0f;
	for (size_t j = threadIdx.x; j < cols; j += THREADS)
		thread_sum += x[blockIdx.x * cols + j];
	partial[threadIdx.x] = thread_sum;
	for (unsigned half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads(); // without it a thread adds a partial sum that another has not written yet
		if (threadIdx.x < half)
			partial[threadIdx.x] += partial[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		y[blockIdx.x] = partial[0];
}

extern "C" cudaError_t launch_sum(struct matrix m)
{
	sum<<<m.rows, THREADS>>>(m.x, m.y, m.cols);
	return cudaGetLastError();
}
