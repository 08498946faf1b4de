/*
 * Chapter 02, second of three: softmax_online, y = softmax(x). New: one pass computes both maximum and sum. The row is
 * read in blocks of W columns; one pair (m, l) is kept of all columns so far, and `merge` adds the pair of the next
 * block to it. A second pass writes the quotients, so x is read twice.
 *
 * Build and run: make build && ./online_softmax --kernel softmax_online. Limit: it needs more exponentials,
 * because merging two pairs takes two of them.
 */
#include "online_softmax.h"

#include "partial.cuh"

__global__ void softmax_online(
	const float *x, // [R, C]
	float *y,       // [R, C]
	float *m_out,   // [R]
	float *l_out,   // [R]
	int cols, int block)
{
	__shared__ struct partial warps[WARPS];
	size_t row = blockIdx.x;
	x += row * cols;
	y += row * cols;

	struct partial seen = {-INFINITY, 0.0f};
	for (int first = 0; first < cols; first += block) // the last block may be shorter
		seen = merge(seen, partial_of(x + first, min(block, cols - first), warps));

	for (int j = threadIdx.x; j < cols; j += THREADS) {
		float share = weight(x[j], seen.m);
		y[j] = seen.l > 0.0f ? share / seen.l : 0.0f; // a row of nothing but -inf: 0, not 0/0
	}
	if (threadIdx.x == 0) {
		m_out[row] = seen.m;
		l_out[row] = seen.l;
	}
}

extern "C" cudaError_t launch_softmax_online(struct softmax s)
{
	softmax_online<<<s.rows, THREADS>>>(s.x, s.y, s.m, s.l, s.cols, s.block);
	return cudaGetLastError();
}
