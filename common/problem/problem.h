/*
 * The problem a run works on: shapes, mask, scale, and where the numbers come from.
 *
 * All tensors are fp32, row-major, the last dimension contiguous. A shape is written as a string of dimension
 * letters, the papers' own (dimensions.h): "BHNd" for Q, "BHNN" for S, "BHN" for LSE, "RC" for a matrix of rows and columns,
 * "mk" "kn" "mn" for a matrix product.
 */
#ifndef PROBLEM_PROBLEM_H
#define PROBLEM_PROBLEM_H

#include "problem/packing.h"
#include "problem/variant.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct score_rules; /* problem/modifiers.h */

enum { MAX_RANK = 4, MAX_HEAD_DIM = 128 };

enum input_kind {
	INPUT_RANDOM,        /* standard normal */
	INPUT_LARGE_LOGITS,  /* scores to about +-1e4 */
	INPUT_VERY_NEGATIVE, /* every score far below the smallest exponent of an fp32 */
	INPUT_CONSTANT,      /* every score the same */
	INPUT_ONE_HOT,       /* one key takes almost all the weight of its row */
	INPUT_RAMP,          /* scores grow with the key: the running max changes at every step */
	INPUT_KINDS
};

/* "random", "large-logits", ...: as --input takes them. */
extern const char *const input_kind_names[INPUT_KINDS];

struct problem {
	size_t batch, heads, seq, dim; /* B H N d */
	size_t rows, cols;             /* R C */
	size_t m, n, k;
	size_t kv_heads,
		keys; /* G M: heads and rows of K and V where they are others than of Q; 0 before problem_fill_defaults */
	size_t splits, page;   /* S p: parts that the keys are split into; tokens of a page of a paged cache, */
	size_t pages;          /* T: so many it takes, problem_fill_defaults says */
	size_t tile_q, tile_k; /* Br Bc; 0: the kernel's own choice */
	size_t block, row;     /* the online softmax: columns of a block; the row to trace */
	bool causal;
	size_t window; /* W; problem/modifiers.h; 0: none */
	float softcap; /* c; 0: none */
	bool alibi, sink;
	float dropout;          /* p; 0: none */
	struct packing packing; /* of no sequence: B sequences of N tokens */
	size_t sequences;       /* z: packed sequences, or B, problem_fill_defaults says; */
	size_t starts;          /* Z: packed sequences + 1, it says, too */
	float scale;            /* scores are scale * q.k; 0 before problem_fill_defaults, unless given */
	bool scale_given;
	uint64_t seed;
	enum input_kind input;
	const char *load;                /* directory the inputs come from; NULL: generated */
	struct class_variant variant;    /* plain, but in a class's hand-out */
	const struct score_rules *rules; /* the chapter's own, of what it does to scores; NULL: none */
};

/* scale = 1/sqrt(d), G = H, M = N, each unless it was given. T = ⌈N/p⌉; z and Z from the packing. */
void problem_fill_defaults(struct problem *problem);

size_t shape_elements(const size_t *shape, size_t rank);

#endif
