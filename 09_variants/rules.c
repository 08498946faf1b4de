/* Open this for ALiBi and dropout in double precision: what the kernels are compared with. */
#include "variants.h"

#include "problem/modifiers.h"

#include <math.h>

/* Head h of H subtracts 2^(-8 (h + 1) / H) |i - j|. Press, Smith, Lewis: Train Short, Test Long, 2022, section 3. */
static double alibi(const struct problem *problem, size_t head, size_t i, size_t j)
{
	if (!problem->alibi)
		return 0.0;
	double slope = exp2(-8.0 * (double)(head % problem->heads + 1) / (double)problem->heads);
	return slope * (double)(i < j ? j - i : i - j);
}

void philox_4x32(const uint32_t counter[4], uint64_t key, uint32_t words[4])
{
	enum { ROUNDS = 10 };
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

uint32_t dropout_threshold(float p)
{
	return (uint32_t)((double)p * 4294967296.0);
}

/* 0, or 1 / (1 - p). */
static double dropout(const struct problem *problem, size_t head, size_t i, size_t j)
{
	const uint32_t counter[4] = {(uint32_t)j, (uint32_t)i, (uint32_t)head, 0};
	uint32_t words[4];
	if (!(problem->dropout > 0.0f))
		return 1.0;
	philox_4x32(counter, problem->seed, words);
	return words[0] < dropout_threshold(problem->dropout) ? 0.0 : 1.0 / (1.0 - (double)problem->dropout);
}

const struct score_rules variants_rules = {.bias = alibi, .factor = dropout};
