/*
 * Chapter 02, third of three: softmax_dot, y = softmax(x) V. New: one pass in all. The weighted sum of the rows of V is
 * accumulated while the scores are read, and is corrected for a new maximum exactly as l is. Only a block of W scores
 * is stored at a time. This is FlashAttention for one row, except that x is read instead of computed.
 *
 * Build and run: make build && ./online_softmax --kernel softmax_dot. Limit: every row reads all of V again; chapter
 * 03 shows how rows share what they read.
 */
#include "online_softmax.h"

#include "partial.cuh"

constexpr size_t SHARED_WITHOUT_OPT_IN = 48 * 1024;

static_assert(THREADS >= SOFTMAX_MOST_DIM, "each column of V has a thread");

// Thread c computes column c of the weighted sum and keeps it in a register. When a block brings a larger maximum, what was
// summed so far is corrected: once per block, not once per column.
//
//     scores[]   | 0 | 1 | 2 | ... | W-1 |     thread t writes t, t + 128, ...; for the sum each thread reads all
__global__ void softmax_dot(
	const float *x, // [R, C]
	const float *V, // [C, d]
	float *y,       // [R, d]
	float *m_out,   // [R]
	float *l_out,   // [R]
	int cols, int dim, int block)
{
	extern __shared__ float scores[]; // [W]
	__shared__ struct partial warps[WARPS];
	size_t row = blockIdx.x;
	int c = threadIdx.x;
	x += row * cols;

	struct partial seen = {-INFINITY, 0.0f};
	float sum = 0.0f; // of exp(x_j - m) V[j, c] over the columns seen
	for (int first = 0; first < cols; first += block) {
		int count = min(block, cols - first); // the last block may be shorter
		for (int j = threadIdx.x; j < count; j += THREADS)
			scores[j] = x[first + j];
		// No barrier: in partial_of each thread reads only the scores it wrote.
		struct partial now = merge(seen, partial_of(scores, count, warps));

		// task 02.correct: the weighted sum, corrected for a new maximum
		float correction = weight(seen.m, now.m);
		seen = now;

		for (int j = threadIdx.x; j < count; j += THREADS)
			scores[j] = weight(scores[j], seen.m);
		__syncthreads(); // without it the sum takes scores that others have not made weights of yet
		if (c < dim) {   // d may be less than 128; no barrier in here
			sum *= correction;
			for (int j = 0; j < count; j++)
				sum += scores[j] * V[(size_t)(first + j) * dim + c];
		}
		__syncthreads(); // without it the next block's scores overwrite weights others still sum

		// end 02.correct
	}
	if (c < dim)
		y[row * dim + c] = seen.l > 0.0f ? sum / seen.l : 0.0f; // the one division, at the very end
	if (threadIdx.x == 0) {
		m_out[row] = seen.m;
		l_out[row] = seen.l;
	}
}

extern "C" size_t softmax_dot_shared_bytes(int cols, int block)
{
	return WARPS * sizeof(struct partial) + min(cols, block) * sizeof(float);
}

extern "C" cudaError_t launch_softmax_dot(struct softmax s)
{
	size_t shared_bytes = min(s.cols, s.block) * sizeof(float); // a block is never longer than the row
	if (s.dim < 1 || s.dim > SOFTMAX_MOST_DIM)
		return cudaErrorInvalidValue;
	if (softmax_dot_shared_bytes(s.cols, s.block) > SHARED_WITHOUT_OPT_IN) {
		cudaError_t status = cudaFuncSetAttribute(
			softmax_dot, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
		if (status != cudaSuccess)
			return status;
	}
	softmax_dot<<<s.rows, THREADS, shared_bytes>>>(s.x, s.V, s.y, s.m, s.l, s.cols, s.dim, s.block);
	return cudaGetLastError();
}
