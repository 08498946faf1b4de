/*
 * Chapter 07: the inputs of its kernels (inputs.c), and what their outputs should be, in double precision (expect.c).
 */
#ifndef EXPECT_H
#define EXPECT_H

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"

#define EPSILON   1e-5f    /* of RMSNorm */
#define ROPE_BASE 100000.0 /* SmolLM2's */

/*
 * Fills Q [N, H, d], K, V [M, G, d], x, residual, gate, up [N, H, d], weight [H, d] or W [H d, H d] in the problem's input kind;
 * scores are as large as those of the same kind in the other chapters (problem/inputs.h). `fills` of "angles" is
 * chapter.c's.
 */
void fill_rows(const struct problem *problem, const char *tensor, float *values);

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
int block_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

#endif
