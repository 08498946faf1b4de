/*
 * Sequences of different lengths, packed: all tokens of the first, then all of the second, without padding. A tensor [B, H, N, d]
 * has B = 1 then, and N is the number of all tokens. A query sees keys of its own sequence only.
 */
#ifndef PROBLEM_PACKING_H
#define PROBLEM_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_SEQUENCES = 64 };

struct packing {
	const char *text;            /* "3,17,200", not owned */
	size_t count;                /* sequences; 0: none are packed */
	size_t ends[MOST_SEQUENCES]; /* tokens up to the end of each */
};

/* Reads "3,17,200": whole numbers above 0 with commas between, whose sum is at most `most`. False for anything else. */
bool packing_read(struct packing *packing, const char *text, uint64_t most);

bool packing_is_same(const struct packing *a, const struct packing *b);

/* Tokens of all sequences; 0 if none are packed. */
size_t packing_tokens(const struct packing *packing);

/* A sequence: which one, its first token, and how many it has. */
struct sequence {
	size_t index, first, length;
};

/* Without packing `seq` tokens are one sequence. */
size_t sequence_count(const struct packing *packing);
struct sequence sequence_at(const struct packing *packing, size_t seq, size_t index);
struct sequence sequence_of_token(const struct packing *packing, size_t seq, size_t token);

/* Tiles of at most `tile` tokens that all sequences are cut into: no tile has tokens of two. */
size_t packing_tiles(const struct packing *packing, size_t seq, size_t tile);

/* The length of the longest. */
size_t packing_longest(const struct packing *packing, size_t seq);

#endif
