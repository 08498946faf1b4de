/*
 * fp32 attention on the host, in several correct orders of arithmetic and with planted faults. The checker has to
 * pass every one of the former and none of the latter.
 */
#ifndef ATTENTION_VARIANTS_H
#define ATTENTION_VARIANTS_H

#include "verify/reference.h"

enum variant {
	CORRECT_NAIVE,      /* three passes, sums from the first key to the last */
	CORRECT_REVERSE,    /* the same, from the last key to the first */
	CORRECT_PAIRWISE,   /* sums as a binary tree */
	CORRECT_FROM_LSE,   /* P = exp(S - LSE), as a backward pass rebuilds it, then P V */
	CORRECT_SCALED_Q,   /* the scale multiplies q before the dot product */
	CORRECT_FUSED,      /* fused multiply-adds */
	CORRECT_EIGHT,      /* dot products as eight partial sums */
	CORRECT_ONLINE,     /* running max and sum over tiles, one division at the end (FA2) */
	CORRECT_NORMALISED, /* the same, O normalized at every tile (FA1) */
	CORRECT_EXP2,       /* as CORRECT_ONLINE, scale and log2 e folded into q, exp2 */
	CORRECT_ONE_KEY,    /* as CORRECT_ONLINE, tiles of one key */
	CORRECT_LAST_FIRST, /* as CORRECT_ONLINE, the last tile first */
	CORRECT_SPLIT,      /* three parts of the keys, merged by their LSE */
	CORRECT_VARIANTS,

	FAULT_ZEROS = CORRECT_VARIANTS, /* nothing but zeros */
	FAULT_NAN,                      /* one element is NaN */
	FAULT_LAST_ROW,                 /* the last row is never written */
	FAULT_NO_RESCALE,               /* O is not corrected when the running max grows */
	FAULT_BLOCK_MAX,                /* each tile subtracts its own max, nothing is corrected */
	FAULT_NO_MAX,                   /* no max is subtracted */
	FAULT_MAX_FROM_ZERO,            /* the running max starts at 0 instead of -inf */
	FAULT_DROPPED_TAIL,             /* keys of the last, ragged tile are left out */
	FAULT_CAUSAL_OFF,               /* the mask is one key too wide */
	FAULT_SMALL_MASK,               /* masked scores are -1e4 instead of -inf */
	FAULT_BF16_P,                   /* P is cut to 16 bits */
	FAULT_END
};

const char *variant_name(enum variant variant);

/* o [B, H, N, d] and lse [B, H, N]; elements a fault leaves out keep their values. */
void attention_variant(enum variant variant, const struct attention_inputs *inputs, float *o, float *lse);

#endif
