/*
 * What is known of a kernel before it runs: the numbers that a counting run is held to.
 */
#ifndef CLOSED_FORMS_H
#define CLOSED_FORMS_H

#include "problem/problem.h"

/* A closed form for what one run of a kernel moves, in elements, all heads together. */
enum predicted_counts { PREDICTS_FOOTPRINT, PREDICTS_REQUESTED };

struct prediction {
	enum predicted_counts counts;
	uint64_t read_elements, write_elements;
	const char *formula; /* "4N² + 4Nd"; per head in a chapter that has heads */
};

enum { PREDICTIONS = 2 };

/* All that is known of a kernel before it runs, all heads together. */
struct closed_forms {
	/* What a run counts has to equal these, or it is not verified; sums over the kernel's launches. */
	struct prediction predictions[PREDICTIONS]; /* the first is the headline */
	uint64_t atomics;                           /* elements its atomics request; in no prediction */
	uint64_t statistics; /* elements of l, m, LSE, D it requests, read and written; in no prediction */
	size_t tile_q,
		tile_k; /* queries by keys that it works on at a time, heeded options and compiled ones; 0: no tiles */
	uint64_t blocks; /* of the launch that has most: a floor must not give work to SMs without one */
	/* Of one block, static and dynamic, of the launch that asks for most, prepared ones
	 * included: is it within the device's limit? 0: not said. Where it is, a run that counts another is not verified. */
	size_t shared_bytes;
	/* Of shared memory, loads and stores, if the chapter tells them: what a run counts has to equal them. */
	bool tells_wavefronts;
	uint64_t wavefronts, conflicts;
	/* For the floor, and not compared with anything. */
	double flop;         /* its own, recomputation and whole tiles included */
	double exponentials; /* at least: corrections come on top */
	uint64_t unread;     /* elements of its inputs that it never reads */
};

/*
 * Algorithm 1 of FlashAttention with tiles of Bc keys, a block for each head: K and V once, Q and O once for each of the
 * Tc tiles. The first tile writes O without reading it, as the released code does; the text read literally writes O = 0
 * first: 2 N d more.
 */
struct closed_forms fa1_forms(const struct problem *problem, int Bc);

/*
 * K and V stream past tiles of Br queries: Q and O once, K and V once for each query tile. With `skips` a causal mask
 * keeps a tile from what it does not see, in whole tiles of Bc keys. LSE is written once; a block for each query tile.
 */
struct closed_forms streamed_forms(const struct problem *problem, int Br, int Bc, bool skips);

/*
 * The backward pass, the forward not included: six kernels with P, dP and dS in HBM; one pass over queries for each tile of
 * keys, with atomics for dQ; and two passes without. Tiles are square; FLOP are the kernels' own, recomputation included.
 */
struct closed_forms backward_naive_forms(const struct problem *problem);
struct closed_forms backward_atomic_forms(const struct problem *problem, int tile);
struct closed_forms backward_split_forms(const struct problem *problem, int tile);

#endif
