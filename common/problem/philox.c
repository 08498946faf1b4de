#include "problem/philox.h"

enum { ROUNDS = 10 };

void philox_4x32(const uint32_t counter[4], uint64_t key, uint32_t words[4])
{
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	for (int i = 0; i < 4; i++)
		words[i] = counter[i];
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t first = (uint64_t)words[0] * 0xD2511F53u, second = (uint64_t)words[2] * 0xCD9E8D57u;
		words[0] = (uint32_t)(second >> 32) ^ words[1] ^ k0;
		words[2] = (uint32_t)(first >> 32) ^ words[3] ^ k1;
		words[1] = (uint32_t)second;
		words[3] = (uint32_t)first;
		k0 += 0x9E3779B9u; /* fractions of 2^32: of the golden ratio, and of the square root of 3 */
		k1 += 0xBB67AE85u;
	}
}
