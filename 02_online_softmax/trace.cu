/*
 * Chapter 02, for --trace: softmax_trace, the first loop of softmax_online (online.cu) for a single row. New: each
 * update of m and l is written, with the factor that corrects the sum before it.
 *
 * Build and run: make build && ./online_softmax --trace --values 1,2,3,6,2,1 --block 3
 */
#include "online_softmax.h"

#include "partial.cuh"

__global__ void softmax_trace(
	const float *x,         // [C], the row
	struct update *updates, // [ceil(C/W)]
	int cols, int block)
{
	__shared__ struct partial warps[WARPS];
	struct partial seen = {-INFINITY, 0.0f};
	for (int first = 0; first < cols; first += block) {
		struct partial now = merge(seen, partial_of(x + first, min(block, cols - first), warps));
		struct update update = {now.m, now.l, weight(seen.m, now.m)};
		if (threadIdx.x == 0)
			updates[first / block] = update;
		seen = now;
	}
}

extern "C" cudaError_t launch_softmax_trace(struct softmax s, int row, struct update *updates)
{
	softmax_trace<<<1, THREADS>>>(s.x + (size_t)row * s.cols, updates, s.cols, s.block);
	return cudaGetLastError();
}
