/*
 * Philox 4x32-10: four random words from a counter and a key, with no state in between. Whoever has the same counter gets the
 * same words, in any order: a backward pass can draw again what its forward drew.
 *
 *     Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, 2011, section 3.3
 */
#ifndef PROBLEM_PHILOX_H
#define PROBLEM_PHILOX_H

#include <stdint.h>

/* The key's low word is the first one. */
void philox_4x32(const uint32_t counter[4], uint64_t key, uint32_t words[4]);

#endif
