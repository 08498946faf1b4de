/*
 * Chapter 08: what models do to the scores of the query, the last of n tokens: its distance to key j is n - 1 - j. And packed
 * sequences: a step of several texts at once, with a query, and keys, for each.
 */
#ifndef MODIFIED_H
#define MODIFIED_H

#include "decode.h"

#ifndef __cplusplus
#include <stdbool.h>
#endif

enum { MOST_GRID_Z = 65535 };

struct scores {
	int window;        /* W: the query sees the last W keys; 0: no window */
	float softcap;     /* c: a score s becomes c tanh(s / c); 0: it does not */
	bool alibi;        /* then s becomes s - 2^(-8 (h + 1) / H) (n - 1 - j), h the head of queries */
	const float *sink; /* [H], logits without keys; NULL: none */
	const int *starts; /* [sequences + 1]: sequence z has rows starts[z] to starts[z + 1] - 1 of K and V, */
	int sequences;     /* and Q and O are [sequences, H, d]; NULL: one sequence, of n rows. At most MOST_GRID_Z */
};

#ifdef __cplusplus
extern "C" {
#endif

/* As launch_decode_split; the splits share the keys that the query sees. The partials, and the merge, are of sequences x H
 * heads. */
cudaError_t launch_decode_modified(struct decode decode, struct partials partials, struct scores scores);

#ifdef __cplusplus
}
#endif
#endif
