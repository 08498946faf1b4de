/*
 * What the kernels around attention should compute, in double precision: RMSNorm, RoPE, a projection, SwiGLU.
 */
#ifndef VERIFY_TRANSFORMER_H
#define VERIFY_TRANSFORMER_H

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"

#define EPSILON   1e-5f    /* of RMSNorm */
#define ROPE_BASE 100000.0 /* SmolLM2's */

/*
 * What the outputs should be of which the inputs are there. M < N and G that does not divide H are EXIT_USAGE. With
 * eps = 2^-23 and eta = 2^-126 (verify/tolerance.h) an element may be off by
 *
 *     normed      eps (8 + C/2) |y|                the sum of C squares; a root halves its error
 *     rotated     4 eps (|a cos| + |b sin|)        three roundings
 *     projected   eps (2 + C/2) (|residual| + sum |w x|)
 *     gated       16 eps |y| + eta |up| (1 + |gate|)   exp, a sum, a quotient, a product; 1 / exp may be flushed
 *     O           as chapters 04 and 05
 *
 * and eta besides. Where a product would take too long, rows of O and of `projected` are drawn with the seed.
 */
int transformer_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

#endif
