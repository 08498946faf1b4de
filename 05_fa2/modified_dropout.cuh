/*
 * Dropout without a stored mask: whether a weight is dropped is a function of its place, so the backward pass computes the same
 * mask again. Chapters 05 and 06 have the same file.
 *
 *     Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, 2011, section 3.3 (Philox 4x32-10)
 *
 * Honestly: of the four words that Philox computes, one is used per weight, to keep this short. They cost 40 integer
 * multiplications, which no count shows and no floor knows.
 */
#pragma once

#include "modified.h"

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
