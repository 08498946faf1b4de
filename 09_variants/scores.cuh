/*
 * Changes of scores, and which keys a query sees: the functions of `struct scores`, which a kernel gets by value: where
 * a sequence lies, the range of tiles that the kernel has to process, each modified score, the derivative of each score,
 * and which weights are dropped.
 */
#pragma once

#include "variants.h"

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

// Rows of a head, of all sequences.
__host__ __device__ inline size_t rows_of_head(const struct scores &a)
{
	return (a.starts ? 1 : (size_t)a.sequences) * a.N;
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

/*
 * Dropout without a stored mask: whether a weight is dropped is a function of its place, so the backward pass computes the
 * same mask again.
 *
 *     Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, 2011, section 3.3 (Philox 4x32-10)
 *
 * Limit: of the four words that Philox computes, one is used per weight, to keep this short. They cost 20 integer
 * multiplications with 64 bits, which no count shows and no floor knows.
 */

// The first of the four random words of this counter and key.
__device__ inline unsigned philox(uint4 counter, unsigned long long key)
{
	uint4 x = counter;
	unsigned k0 = key, k1 = key >> 32;
	for (int round = 0; round < 10; round++) {
		x = make_uint4(
			__umulhi(0xCD9E8D57, x.z) ^ x.y ^ k0, 0xCD9E8D57 * x.z, __umulhi(0xD2511F53, x.x) ^ x.w ^ k1,
			0xD2511F53 * x.x);
		k0 += 0x9E3779B9;
		k1 += 0xBB67AE85;
	}
	return x.x;
}

// Bit e is set if a lane's weight e is dropped. `place` returns its query and its key; `head`: of all heads of all sequences.
template <int WEIGHTS, class Place>
__device__ unsigned long long dropped_weights(const struct scores &a, unsigned head, Place place)
{
	unsigned long long bits = 0;
#pragma unroll 1 // unrolled it would be thousands of instructions
	for (int e = 0; a.dropped && e < WEIGHTS; e++) {
		int2 at = place(e);
		unsigned long long is_dropped = philox(make_uint4(at.y, at.x, head, 0), a.seed) < a.dropped;
		bits |= is_dropped << e;
	}
	return bits;
}

// What weight e is multiplied by.
__device__ inline float dropout_factor(const struct scores &a, unsigned long long bits, int e)
{
	return bits >> e & 1 ? 0.0f : a.kept;
}
