/*
 * Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood 2014) used as a counter-based generator.
 * A stream has a name; its n-th word is a function of the seed, that name and n alone.
 */
#ifndef SUPPORT_RANDOM_H
#define SUPPORT_RANDOM_H

#include <stdint.h>

/* SplitMix64's output function on the counter-th state after `start`. */
static inline uint64_t random_word(uint64_t start, uint64_t counter)
{
	uint64_t z = start + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Where the stream of that name starts: FNV-1a of the name, mixed with the seed. */
static inline uint64_t stream_start(uint64_t seed, const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return random_word(hash, seed);
}

/* 53 random bits in the middle of their interval, so never 0: (0, 1). */
static inline double unit_interval(uint64_t word)
{
	return ((double)(word >> 11) + 0.5) * 0x1p-53;
}

#endif
