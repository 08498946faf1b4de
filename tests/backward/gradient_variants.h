/*
 * The backward pass in fp32 on the host, in several correct orders of arithmetic and with planted faults: what the
 * checker must pass, and what it must not.
 */
#ifndef GRADIENT_VARIANTS_H
#define GRADIENT_VARIANTS_H

#include "verify/gradients.h"

enum gradient_variant {
	CORRECT_NAIVE,       /* D = rowsum(P o dP), plain sums */
	CORRECT_SPLIT,       /* D = rowsum(dO o O), sums over tiles of 32 */
	CORRECT_REVERSED,    /* the same, from the last token to the first */
	CORRECT_EXP2,        /* exp2 of scores in units of log2 e */
	CORRECT_SCALED_LAST, /* scale times the dot product, in the place of a scaled q */
	CORRECT_FUSED,       /* fused multiply-adds */
	CORRECT_VARIANTS,

	FAULT_ZEROS = CORRECT_VARIANTS, /* nothing but zeros */
	FAULT_DO_ROW,                   /* dV from the dO of the next query */
	FAULT_NO_D,                     /* dS = P o dP */
	FAULT_DQ_UNSCALED,
	FAULT_DK_UNSCALED,
	FAULT_NOT_NORMALISED,   /* P = exp(S) */
	FAULT_NO_MAX,           /* P = exp(S) / sum of exp(S): right until exp overflows or underflows */
	FAULT_DROPPED_TAIL,     /* queries after the last whole tile of 32 are lost to dK and dV */
	FAULT_DROPPED_KEY,      /* one key is lost to dQ */
	FAULT_CAUSAL_OFF,       /* a query sees the keys before its own only */
	FAULT_O_NOT_NORMALISED, /* D from an O that was not divided by l */
	FAULT_LAST_ROW,         /* dQ of the last query not written */
	FAULT_NAN,              /* one NaN in dK */
	GRADIENT_VARIANTS
};

const char *gradient_variant_name(enum gradient_variant variant);

/* Writes dQ, dK and dV, [B, H, N, d] each, on top of zeros. */
void gradient_variant(
	enum gradient_variant variant, const struct attention_inputs *inputs, const float *d_o, float *dq, float *dk,
	float *dv);

#endif
