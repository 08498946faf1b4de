/*
 * Chapter 09: what models do to scores. One problem for all kernels: H heads of queries, G heads of keys and values, B
 * sequences of N tokens, or packed sequences of N tokens together.
 *
 *     s_ij = scale q_i.k_j     s becomes c tanh(s / c)     then s - slope |i - j|     then -inf where i does not see j
 *     P = softmax of a row, the sink included     weights are dropped     O = P V
 *
 * Pointers are the device's, tensors fp32 and row-major; the caller owns all of it. A launcher allocates and copies
 * nothing, and returns the first launch error. What it cannot take is cudaErrorInvalidValue.
 */
#ifndef VARIANTS_H
#define VARIANTS_H

#include <cuda_runtime_api.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* The tensors, and what any attention has. */
struct attention {
	const float *Q, *dO; /* [B, H, N, d] */
	const float *K, *V;  /* [B, G, N, d] */
	float *O;            /* [B, H, N, d], by launch_forward, then read; of launch_decode [sequences, H, d] */
	float *LSE;          /* [B, H, N], by launch_forward, then read: the sink is a term of it */
	float *delta;        /* [B, H, N], by launch_delta, then read: the row sums of dO o O */
	float *dQ, *dK, *dV; /* as Q, K and V */
	float *dsink;        /* [H]; written where there are sinks */
	int d, tile;         /* 1 <= d <= 128; rows of a tile of queries and of a tile of keys, 32 or 64 */
	float scale;
};

/* What is done to the scores, and which keys a query sees. */
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

	/* Dropout. */
	unsigned dropped; /* of 2^32 random words so many make a weight 0; 0: no dropout */
	float kept;       /* what the other weights are multiplied by: 1 / (1 - p) */
	unsigned long long seed;
};

/* What a split of the keys knows, for each head of the last query of each sequence: sum exp(s - m) v, the largest score m,
 * sum exp(s - m). Of a split without keys: 0, -inf, 0. */
struct partials {
	float *O;     /* [S, B, H, d]; of packed sequences z of them in the place of B */
	float *m, *l; /* [S, B, H] */
	int S;        /* 1 to MOST_SPLITS */
};

/* Heads that share keys are a warp each of one block of decode, and splits and sequences its grid's y and z. */
enum { MOST_GROUP = 32, MOST_SPLITS = 65535, MOST_SEQUENCES_OF_GRID = 65535 };

/* Each is in the file of its name. */
cudaError_t launch_forward(struct attention attention, struct scores scores); /* O and LSE */
cudaError_t launch_delta(struct attention attention, struct scores scores);   /* delta from dO and O */
cudaError_t launch_dkdv(struct attention attention, struct scores scores);    /* dK and dV; reads LSE and delta */
cudaError_t launch_dq(struct attention attention, struct scores scores);      /* dQ and dsink; reads LSE and delta */

/* O of the last query of each sequence, from Q, K and V; no dropout. */
cudaError_t launch_decode(struct attention attention, struct scores scores, struct partials partials);

/* Shared memory of a block of decode whose warps have a head each, bytes. In decode.cu. */
size_t decode_shared_bytes(int d, int heads);

/* Shared memory of a block of the kernels with tiles, bytes: the largest of them. All of them ask for it. In forward.cu. */
size_t tiles_shared_bytes(int d, int tile);

/*
 * What the kernels are compared with, of ALiBi and dropout; host only, in rules.c.
 *
 * Philox 4x32-10: four random words from a counter and a key, with no state in between: a backward pass draws again what its
 * forward drew. (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, 2011, section 3.3) The key's low
 * word is the first one.
 */
extern const struct score_rules variants_rules;
void philox_4x32(const uint32_t counter[4], uint64_t key, uint32_t words[4]);
uint32_t dropout_threshold(float p); /* of 2^32 words so many make a weight 0 */

#ifdef __cplusplus
}
#endif
#endif
