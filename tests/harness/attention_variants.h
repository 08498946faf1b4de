/*
 * fp32 attention on the host, and its gradients: in several correct orders of arithmetic, every one of which the checker
 * has to pass, and with faults, which it has to find.
 */
#ifndef ATTENTION_VARIANTS_H
#define ATTENTION_VARIANTS_H

#include "verify/reference.h"

enum variant {
	NAIVE,      /* three passes, sums from the first key to the last */
	REVERSE,    /* the same, from the last key to the first */
	PAIRWISE,   /* sums as a binary tree */
	FROM_LSE,   /* P = exp(S - LSE), as a backward pass rebuilds it, then P V */
	SCALED_Q,   /* the scale multiplies q before the dot product */
	FUSED,      /* fused multiply-adds */
	EIGHT,      /* dot products as eight partial sums */
	ONLINE,     /* running max and sum over tiles, one division at the end (FA2) */
	NORMALIZED, /* the same, O normalized at every tile (FA1) */
	EXP2,       /* as ONLINE, scale and log2 e folded into q, exp2 */
	ONE_KEY,    /* as ONLINE, tiles of one key */
	LAST_FIRST, /* as ONLINE, the last tile first; gradients from the last query and key to the first */
	SPLIT,      /* three parts of the keys, merged by their LSE */
	VARIANTS,
	NO_RESCALE = VARIANTS, /* as ONLINE, and so are these; the sums so far are kept where the max has grown */
	NO_MAX,                /* exp of the scores as they are */
	EIGHT_BITS,            /* P as multiples of 1/256 */
	DROPPED_KEY,           /* the last visible key is left out, where there are two */
	KEY_TOO_MANY,          /* causal: the next key is visible, too, where there is one */
	NO_D,                  /* dS = P o dP */
	NO_SCALE,              /* dK without the scale */
	VARIANTS_AND_FAULTS
};

enum { O, LSE, DQ, DK, DV, OUTPUTS };

const char *variant_name(enum variant variant);

/* O, dQ, dK and dV [B, H, N, d] and LSE [B, H, N], on top of zeros. D is rowsum(P o dP) where there are three passes,
 * rowsum(dO o O) else. */
void attention_variant(
	enum variant variant, const struct attention_inputs *inputs, const float *d_o, float *const outputs[OUTPUTS]);

#endif
