/*
 * What models do to scores, and which keys a query sees: a functor that a kernel gets by value, `struct scores`. A kernel
 * asks it for the tiles that it has to visit, for each score, and for each score's derivative. The same file, byte for byte,
 * in chapters 05 and 06.
 */
#pragma once

#include "modified.h"

#include <math.h>

// Below every score, but finite: a row that has not met a key of its window yet has this maximum, and exp(m - m) is 1, not
// the NaN of -inf - -inf.
constexpr float LOWEST = -3.40282347e38f;

// From `first` to before `end`.
struct range {
	int first, end;
};

// The keys that query i sees. Both ends move on with i, so a tile of queries sees what lies between the first key of its
// first query and the last key of its last one.
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

// m of ALiBi: 2^(-8 (h + 1) / H).
__device__ inline float slope_of(const struct scores &a, int h)
{
	return a.alibi ? exp2f(-8.0f * (h + 1) / a.H) : 0.0f;
}

// What becomes of s = scale q.k; `slope` is that of the head. The mask comes after it: tanh(-inf) is -1, and a masked score
// that is capped would be -c, a weight like any other.
__device__ inline float modify(const struct scores &a, float slope, float s, int i, int j)
{
	if (a.softcap > 0.0f)
		s = a.softcap * tanhf(s / a.softcap);
	return fmaf(-slope, (float)abs(i - j), s); // fused explicitly: forward and backward round alike
}

// The derivative of modify by s: 1 - tanh²(s / c). A bias has none.
__device__ inline float derivative(const struct scores &a, float s)
{
	float t = a.softcap > 0.0f ? tanhf(s / a.softcap) : 0.0f;
	return 1.0f - t * t;
}
