/*
 * Shapes drawn at random for the tests of the checkers: 10,000 of them with LONG=1. Most are small, a twentieth is long.
 */
#ifndef SHAPES_H
#define SHAPES_H

#include "program.h"
#include "support/random.h"

struct drawn_shape {
	size_t seq, dim;
	bool causal;
	uint64_t seed;
};

static inline size_t drawn_shapes(void)
{
	return thorough() ? 10000 : 25;
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
