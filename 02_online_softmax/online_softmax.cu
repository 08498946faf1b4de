/*
 * Chapter 02: the online softmax. New since chapter 01: the largest score need not be known before summing starts.
 *
 *     softmax_three_pass   y = softmax(x)       the definition: maximum, sum, quotient; reads x three times
 *     softmax_online       y = softmax(x)       maximum and sum in one pass, quotient in a second
 *     softmax_dot          y = softmax(x) V     one pass: the weighted sum is corrected like the sum. FlashAttention
 *                                               for one row, but for where x comes from
 *
 * A row is streamed in blocks of W columns. What has to be remembered of all columns so far are two numbers, m and l,
 * and two such pairs, of whatever columns, are put together by one function: merge. Lanes, warps and blocks of the
 * stream all use it. A thread block works on one row.
 *
 * Build and run: make, or make DEVICE=cuda. Honestly: when a row fits into a cache, the passes saved here cost
 * little; softmax_online even pays for its single pass with more exponentials. What counts is the third kernel, which
 * never needs a row as a whole.
 */
#include "online_softmax.h"

#include <math.h>

constexpr int WARP = 32;
constexpr int THREADS = 128; // of a block: one row
constexpr int WARPS = THREADS / WARP;
constexpr size_t SHARED_WITHOUT_OPT_IN = 48 * 1024;

static_assert(THREADS % WARP == 0, "a block is made of whole warps");
static_assert(THREADS >= SOFTMAX_MOST_DIM, "softmax_dot gives each column of V a thread");

// What a softmax has to remember of the scores it has seen: m the largest, l the sum of exp(x - m).
// Of nothing: m = -inf, l = 0. Of a single score x: m = x, l = 1.
struct partial {
	float m, l;
};

// task 02.merge: a weight, and two partial sums merged
#ifndef HANDOUT
// solution 9da1603907b1
// The weight of a score x as seen from a maximum m >= x. While all scores are -inf, so is m, and exp(-inf + inf)
// would be NaN: what is masked out has no weight.
__device__ float weight(float x, float m)
{
	return m == -INFINITY ? 0.0f : expf(x - m);
}

// The two sums are relative to different maxima; the larger one becomes the reference of both. The order in which
// pairs are merged does not matter, but for rounding: that is what makes the softmax a stream.
__device__ struct partial merge(struct partial a, struct partial b)
{
	float m = fmaxf(a.m, b.m);
	struct partial both = {m, a.l * weight(a.m, m) + b.l * weight(b.m, m)};
	return both;
}
#else
// The weight of a score x as seen from a maximum m >= x. While all scores are -inf, so is m: no weight then, not
// NaN.
__device__ float weight(float x, float m)
{
	// TODO (about 1 line): exp(x - m), and 0 when m is -INFINITY.
	(void)x, (void)m;
	return 0.0f;
}

// Two pairs, of whatever scores, become the pair of all of them.
__device__ struct partial merge(struct partial a, struct partial b)
{
	// TODO (about 3 lines): the new maximum; then both sums, each brought to it.
	// Hint: a sum of exp(x - a.m) becomes one of exp(x - m) with a single factor. weight() is that factor.
	(void)b;
	return a;
}
#endif
// end 02.merge

// Lanes: five exchanges, then each lane has the pair of all 32. All lanes of the warp must call it together.
__device__ struct partial merge_over_warp(struct partial own)
{
	for (int distance = WARP / 2; distance > 0; distance /= 2) {
		struct partial other = {
			__shfl_xor_sync(0xffffffff, own.m, distance), __shfl_xor_sync(0xffffffff, own.l, distance)};
		own = merge(own, other);
	}
	return own;
}

// Warps: a pair each through shared memory. All threads of the block must call it together.
//
//     warps[]    | m l | m l | m l | m l |     written by lane 0 of warp 0 1 2 3, read by everybody
__device__ struct partial merge_over_block(struct partial own, struct partial *warps) // warps [WARPS], shared
{
	own = merge_over_warp(own);
	if (threadIdx.x % WARP == 0)
		warps[threadIdx.x / WARP] = own;
	__syncthreads(); // without it a warp merges pairs that other warps have not written yet
	struct partial all = warps[0];
	for (int w = 1; w < WARPS; w++) // the same order in every thread: all of them get the same bits
		all = merge(all, warps[w]);
	__syncthreads(); // without it the next call overwrites warps[] while slower warps still read this one's
	return all;
}

// The pair of count scores, each thread of the block taking every THREADS-th.
__device__ struct partial partial_of(const float *scores, int count, struct partial *warps)
{
	// task 02.stream: the scores of a thread, one after the other
#ifndef HANDOUT
	// solution 6f3f6036edf6
	struct partial own = {-INFINITY, 0.0f};
	for (int j = threadIdx.x; j < count; j += THREADS) {
		struct partial single = {scores[j], 1.0f};
		own = merge(own, single);
	}
	return merge_over_block(own, warps);
#else
	// TODO (about 6 lines): the pair of this thread's scores, which are every THREADS-th from threadIdx.x on;
	// then that of the whole block.
	// Hint: of nothing it is {-INFINITY, 0}, of a single score x it is {x, 1}. You have a function that adds one
	// to it.
	(void)scores, (void)count, (void)warps;
	struct partial nothing = {-INFINITY, 0.0f};
	return nothing;
#endif
	// end 02.stream
}

// For comparison: the two reductions a softmax needs when maximum and sum are passes of their own.
__device__ float max_over_block(float value, float *warps) // warps [WARPS], shared
{
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
	if (threadIdx.x % WARP == 0)
		warps[threadIdx.x / WARP] = value;
	__syncthreads(); // as in merge_over_block, both of them
	float all = warps[0];
	for (int w = 1; w < WARPS; w++)
		all = fmaxf(all, warps[w]);
	__syncthreads();
	return all;
}

__device__ float sum_over_block(float value, float *warps) // warps [WARPS], shared
{
	for (int distance = WARP / 2; distance > 0; distance /= 2)
		value += __shfl_xor_sync(0xffffffff, value, distance);
	if (threadIdx.x % WARP == 0)
		warps[threadIdx.x / WARP] = value;
	__syncthreads(); // as in merge_over_block, both of them
	float all = warps[0];
	for (int w = 1; w < WARPS; w++)
		all += warps[w];
	__syncthreads();
	return all;
}

// The definition. Each pass needs the result of the one before it, so x is read three times.
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

// One pass over blocks of W columns for m and l, a second one for the quotients.
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
	for (int first = 0; first < cols; first += block)
		seen = merge(seen, partial_of(x + first, min(block, cols - first), warps));

	for (int j = threadIdx.x; j < cols; j += THREADS) {
		float share = weight(x[j], seen.m);
		y[j] = seen.l > 0.0f ? share / seen.l : 0.0f; // as above: not 0/0
	}
	if (threadIdx.x == 0) {
		m_out[row] = seen.m;
		l_out[row] = seen.l;
	}
}

// One pass in all. Thread c owns column c of the weighted sum and keeps it in a register. When a block brings a
// larger maximum, what was summed so far is corrected: once a block, not once a column.
//
//     scores[]   | 0 | 1 | 2 | ... | W-1 |     thread t writes t, t + 128, ...; for the sum everybody reads all
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
		// No barrier: partial_of lets each thread read just the scores it wrote.
		struct partial now = merge(seen, partial_of(scores, count, warps));

		// task 02.correct: the weighted sum, corrected for a new maximum
#ifndef HANDOUT
		// solution f3752567643b
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
#else
		// TODO (about 9 lines): `sum` is relative to the old maximum, seen.m; bring it to the new one,
		// now.m. Together the threads make weights of the block's scores, in place; then thread c adds count
		// products with column c of V.
		// Hint: two barriers: weights are read by threads that did not write them, and scores[] is used
		// again.
		(void)c, (void)V, (void)dim;
		seen = now;
#endif
		// end 02.correct
	}
	if (c < dim)
		y[row * dim + c] = seen.l > 0.0f ? sum / seen.l : 0.0f; // the one division, at the very end
	if (threadIdx.x == 0) {
		m_out[row] = seen.m;
		l_out[row] = seen.l;
	}
}

// The first loop of softmax_online for a single row, written down.
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

extern "C" cudaError_t launch_softmax_three_pass(struct softmax s)
{
	softmax_three_pass<<<s.rows, THREADS>>>(s.x, s.y, s.m, s.l, s.cols);
	return cudaGetLastError();
}

extern "C" cudaError_t launch_softmax_online(struct softmax s)
{
	softmax_online<<<s.rows, THREADS>>>(s.x, s.y, s.m, s.l, s.cols, s.block);
	return cudaGetLastError();
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

extern "C" cudaError_t launch_softmax_trace(struct softmax s, int row, struct update *updates)
{
	softmax_trace<<<1, THREADS>>>(s.x + (size_t)row * s.cols, updates, s.cols, s.block);
	return cudaGetLastError();
}
