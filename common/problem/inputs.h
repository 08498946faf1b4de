/*
 * Reproducible inputs: the same seed gives the same bits with every compiler and at every -O.
 *
 * Element t of a tensor is a function of (seed, tensor name, t) alone: two 64-bit words of support/random.h, made
 * normal by Box and Muller's cosine branch,
 *     z = sqrt(-2 ln u) cos(2 pi v),   u in (0, 1), v in [0, 1)
 * in double and rounded once to fp32. No product is followed by a sum, so a compiler that fuses the two (FMA) has
 * nothing to fuse.
 */
#ifndef PROBLEM_INPUTS_H
#define PROBLEM_INPUTS_H

#include "problem/option_set.h"

/* What a kind is made of, in at most 62 columns, for people, in a chapter that takes the options `applicable`: the scores of
 * attention and softmax, the matrices of a product, or the numbers of chapter 00, which have no meaning. */
const char *input_meaning(enum input_kind kind, uint64_t applicable);

/* Element `index` of the standard normal stream that belongs to a tensor. */
float input_normal(uint64_t seed, const char *tensor, size_t index);

/*
 * Fills a tensor of an attention problem, shape [B, H, N, d], in the problem's input kind. K, V and any other tensor
 * (dO) are standard normal unless the kind says otherwise; V always has random elements, so that a key that was
 * dropped or doubled shows in the output. z is standard normal; scores are with the default scale 1/sqrt(d):
 *
 *   random         q = k = z: scores are about standard normal
 *   large-logits   q = k = 50 z: scores have a deviation of 2,500 and reach +-1e4; exp overflows from 89 on
 *   very-negative  q = 16 + z/4, k = -(16 + z/4): scores about -256 sqrt(d), all below -104, where exp is 0
 *   constant       q = k = 1: every score is sqrt(d)
 *   one-hot        q_i = 64 k_t for a random token t <= i: key t wins its row, under a causal mask, too
 *   ramp           q = 1, k_j = 8 (j+1)/N: scores grow with j; v rises from -1 to 1 over the tensor
 */
void input_fill_attention(const struct problem *problem, const char *tensor, float *values);

/*
 * Fills x [R, C], the scores of a softmax, or V [C, d]. V is standard normal, in a ramp it rises from -1 to 1. x has
 * the size that the same kind gives the scores of attention at d = 64:
 *
 *   large-logits   deviation 2,500            very-negative  -2048 + 4 z
 *   constant       8                          one-hot        normal, but 4096 in a random column of each row
 *   ramp           64 (j+1)/C
 */
void input_fill_softmax(const struct problem *problem, const char *tensor, float *values);

/*
 * Fills A [m, k] or B [k, n]:
 *
 *   large-logits   both 50 z                  very-negative  A = 16 + z/4, B = -(16 + z/4)
 *   constant       both 1                     one-hot        row i of A is 64 in a random column, else 0; B normal
 *   ramp           both rise from -1 to 1
 */
void input_fill_matmul(const struct problem *problem, const char *tensor, float *values);

#endif
