/*
 * Dropout without a stored mask: whether a weight is dropped is a function of its place, so the backward pass computes the same
 * mask again. Chapters 05 and 06 have the same file.
 *
 *     Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, 2011, section 3.3 (Philox 4x32-10)
 *
 * Honestly: of the four words that Philox computes, one is used per weight, so that the mask does not depend on which lane has it.
 */
#pragma once

#include "modified.h"

// The first of the four random words of this counter and key.
__device__ inline unsigned philox(uint4 counter, unsigned long long key)
{
	uint4 x = counter;
	unsigned k0 = key, k1 = key >> 32;
#pragma unroll 1 // it is called for each weight of a lane: its code is kept short
	for (int round = 0; round < 10; round++) {
		x = make_uint4(
			__umulhi(0xCD9E8D57, x.z) ^ x.y ^ k0, 0xCD9E8D57 * x.z, __umulhi(0xD2511F53, x.x) ^ x.w ^ k1,
			0xD2511F53 * x.x);
		k0 += 0x9E3779B9;
		k1 += 0xBB67AE85;
	}
	return x.x;
}

// What the weight of key j is multiplied by for query i: 0 if it is dropped. `head`: of all heads of all sequences.
__device__ inline float dropout_factor(const struct scores &a, unsigned head, unsigned i, unsigned j)
{
	if (a.dropped == 0)
		return 1.0f;
	return philox(make_uint4(j, i, head, 0), a.seed) < a.dropped ? 0.0f : a.kept;
}
