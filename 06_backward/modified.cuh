/*
 * Changes of scores, and which keys a query sees: a functor, `struct scores`, that a kernel gets by value. It computes where
 * a sequence lies, the range of tiles that the kernel has to process, each modified score, and the derivative of each score.
 * Chapters 05 and 06 have the same file.
 */
#pragma once

#include "modified.h"

#include <math.h>

// Below every score, but finite: the maximum of a row that has not seen a key yet. With it exp(m - m) is 1; with -inf it
// would be exp(-inf + inf), a NaN.
constexpr float LOWEST = -3.40282347e38f;

// A sequence of N tokens: the one of tensors [B, heads, N, d] at `batch`, or packed ones from `first`, with B = 1.
struct sequence {
	int batch, first, N;
};

__device__ inline struct sequence sequence_of(const struct scores &a, int index)
{
	if (!a.starts)
		return {index, 0, a.N};
	int first = a.starts[index];
	return {0, first, a.starts[index + 1] - first};
}

// The row of its first token in a tensor of `heads` heads. It needs a.N of all tokens; the functions below, of a sequence.
__device__ inline size_t row_of(const struct scores &a, const struct sequence &sequence, int head, int heads)
{
	return ((size_t)sequence.batch * heads + head) * a.N + sequence.first;
}

// `first` ... `end` - 1.
struct range {
	int first, end;
};

// The keys that query i sees. Both ends grow with i, so a tile of queries sees the keys from the first key of its first
// query to the last key of its last query.
__device__ inline struct range keys_of(const struct scores &a, int i)
{
	struct range keys = {0, a.causal ? i + 1 : a.N};
	if (a.window) {
		keys.first = max(0, i - a.window + 1);
		keys.end = min(keys.end, i + a.window);
	}
	return {keys.first, min(keys.end, a.N)};
}

// The queries that see key j.
__device__ inline struct range queries_of(const struct scores &a, int j)
{
	struct range queries = {0, a.N};
	if (a.window)
		queries = {max(0, j - a.window + 1), min(a.N, j + a.window)};
	return {a.causal ? j : queries.first, queries.end};
}

__device__ inline bool sees(struct range keys, int j)
{
	return j >= keys.first && j < keys.end;
}

// The slope of ALiBi in head h: 2^(-8 (h + 1) / H).
__device__ inline float slope_of(const struct scores &a, int h)
{
	return a.alibi ? exp2f(-8.0f * (h + 1) / a.H) : 0.0f;
}

// Modifies s = scale q.k; `slope` is that of the head. The mask is applied after it: a masked score that is capped would
// become c tanh(-inf) = -c, and its weight would not be 0.
__device__ inline float modify(const struct scores &a, float slope, float s, int i, int j)
{
	if (a.softcap > 0.0f)
		s = a.softcap * tanhf(s / a.softcap);
	return fmaf(-slope, (float)abs(i - j), s); // fused explicitly: forward and backward round in the same way
}

// The derivative of modify with respect to s: 1 - tanh²(s / c). The bias does not change it.
__device__ inline float derivative(const struct scores &a, float s)
{
	float t = a.softcap > 0.0f ? tanhf(s / a.softcap) : 0.0f;
	return 1.0f - t * t;
}
