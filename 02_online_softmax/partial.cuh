/*
 * Chapter 02, shared by its kernels: the two numbers that a softmax keeps of the scores it has seen, and how two
 * such pairs become one. One function, merge, joins the scores of a thread, of a warp, of a thread block and of the
 * whole row.
 */
#pragma once

#include <math.h>

constexpr int WARP = 32;
constexpr int THREADS = 128; // of a thread block, which works on one row
constexpr int WARPS = THREADS / WARP;

static_assert(THREADS % WARP == 0, "a thread block is made of whole warps");

// m is the largest score seen, l the sum of exp(x - m) over the scores x seen.
// Of no scores: m = -inf, l = 0. Of a single score x: m = x, l = 1.
struct partial {
	float m, l;
};

// The weight of a score x relative to a maximum m >= x. While all scores are -inf (masked), so is m, and exp(-inf + inf)
// would be NaN; their weight is 0.
__device__ inline float weight(float x, float m)
{
	// task 02.weight: the weight of a score, masked or not
	return m == -INFINITY ? 0.0f : expf(x - m);
	// end 02.weight
}

// The two sums are relative to different maxima; the larger maximum becomes the reference of both. The order in which
// pairs are merged does not matter, apart from rounding, so a row can be read block by block.
__device__ inline struct partial merge(struct partial a, struct partial b)
{
	// task 02.merge: two partial sums merged
	float m = fmaxf(a.m, b.m);
	struct partial both = {m, a.l * weight(a.m, m) + b.l * weight(b.m, m)};
	return both;
	// end 02.merge
}

// Lanes: five exchanges, then each lane has the pair of all 32. All lanes of the warp must call it together.
__device__ inline struct partial merge_over_warp(struct partial pair)
{
	for (int distance = WARP / 2; distance > 0; distance /= 2) {
		struct partial other = {
			__shfl_xor_sync(0xffffffff, pair.m, distance), __shfl_xor_sync(0xffffffff, pair.l, distance)};
		pair = merge(pair, other);
	}
	return pair;
}

// Warps: one pair each, through shared memory. All threads of the thread block must call it together.
//
//     warps[]    | m l | m l | m l | m l |     written by lane 0 of warp 0 1 2 3, read by all threads
__device__ inline struct partial merge_over_block(struct partial pair, struct partial *warps) // warps [WARPS], shared
{
	pair = merge_over_warp(pair);
	if (threadIdx.x % WARP == 0)
		warps[threadIdx.x / WARP] = pair;
	__syncthreads(); // without it a warp merges pairs that other warps have not written yet
	struct partial all = warps[0];
	for (int w = 1; w < WARPS; w++) // the same order in every thread: all of them get the same bits
		all = merge(all, warps[w]);
	__syncthreads(); // without it the next call overwrites warps[] while slower warps still read this one's
	return all;
}

// The pair of `count` scores, each thread of the thread block taking every THREADS-th.
__device__ inline struct partial partial_of(const float *scores, int count, struct partial *warps)
{
	// task 02.stream: the scores of a thread, one after the other
	struct partial pair = {-INFINITY, 0.0f};
	for (int j = threadIdx.x; j < count; j += THREADS) {
		struct partial single = {scores[j], 1.0f};
		pair = merge(pair, single);
	}
	return merge_over_block(pair, warps);
	// end 02.stream
}
