/*
 * Shapes drawn at random for the tests of the checkers. Most are small, a twentieth is long. SHAPES says how many: 10,000
 * take about four minutes of CPU in each of
 *
 *     SHAPES=10000 build/gcc/tests/harness_check --verbose --filter 'check/no_correct*'
 *     SHAPES=10000 build/gcc/tests/backward_checker --verbose --filter 'checker/no_correct*'
 */
#ifndef SHAPES_H
#define SHAPES_H

#include "program.h"
#include "support/random.h"

#include <stdlib.h>

struct drawn_shape {
	size_t seq, dim;
	bool causal;
	uint64_t seed;
};

static inline size_t drawn_shapes(void)
{
	const char *given = getenv("SHAPES");
	return given ? strtoul(given, NULL, 10) : thorough() ? 1000 : 25;
}

/* Number `index`; N up to 320, d up to 128. */
static inline struct drawn_shape draw_shape(size_t index)
{
	uint64_t start = stream_start(41, "shapes"), at = 4 * (uint64_t)index;
	size_t most_rows = index % 20 == 19 ? 320
	                   : index % 5 == 4 ? 128
	                                    : 40,
	       most_columns = index % 7 == 6 ? 128 : 48;
	return (struct drawn_shape){
		.seq = 1 + random_word(start, at) % most_rows,
		.dim = 1 + random_word(start, at + 1) % most_columns,
		.causal = random_word(start, at + 2) % 2,
		.seed = random_word(start, at + 3)};
}

#endif
