/*
 * What the kernels with modifiers need to know about scores and heads. Chapters 05 and 06 have the same file.
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
	int N;             /* queries, keys */
	int H, G;          /* heads of queries, of keys and values; G divides H */
};

#endif
