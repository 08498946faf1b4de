/*
 * Chapter 08: what models do to the scores of the query, the last of n tokens: its distance to key j is n - 1 - j.
 */
#ifndef MODIFIED_H
#define MODIFIED_H

#include "decode.h"

#ifndef __cplusplus
#include <stdbool.h>
#endif

struct scores {
	int window;        /* W: the query sees the last W keys; 0: no window */
	float softcap;     /* c: a score s becomes c tanh(s / c); 0: it does not */
	bool alibi;        /* then s becomes s - 2^(-8 (h + 1) / H) (n - 1 - j), h the head of queries */
	const float *sink; /* [H], logits without keys; NULL: none */
};

#ifdef __cplusplus
extern "C" {
#endif

/* As launch_decode_split; the splits share the keys that the query sees. The merge is the same. */
cudaError_t launch_decode_modified(struct decode decode, struct partials partials, struct scores scores);

#ifdef __cplusplus
}
#endif
#endif
