/*
 * What the kernels with modifiers need to know about scores, heads and sequences. Chapters 05 and 06 have the same file.
 */
#ifndef MODIFIED_H
#define MODIFIED_H

#ifndef __cplusplus
#include <stdbool.h>
#endif

struct scores {
	int window;        /* W: query i sees key j only if |i - j| < W; 0: no window */
	float softcap;     /* c: a score s becomes c tanh(s / c), before the mask; 0: it does not */
	bool alibi;        /* then s becomes s - 2^(-8 (h + 1) / H) |i - j|, h the head of queries */
	bool causal;       /* query i sees keys 0 to i */
	const float *sink; /* [H], logits without keys; NULL: none */
	int N;             /* queries, keys: of a sequence, or of all packed ones together */
	int H, G;          /* heads of queries, of keys and values; G divides H */

	/* Packed sequences: tokens starts[s] to starts[s + 1] - 1 are sequence s, which sees only itself. */
	const int *starts; /* [sequences + 1]; NULL: not packed, each sequence has N tokens in tensors of its own */
	int sequences, longest; /* B, N if not packed */

	/* Dropout (modified_dropout.cuh). */
	unsigned dropped; /* of 2^32 random words so many make a weight 0; 0: no dropout */
	float kept;       /* what the other weights are multiplied by: 1 / (1 - p) */
	unsigned long long seed;
};

#endif
