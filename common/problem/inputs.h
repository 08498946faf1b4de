/*
 * Reproducible inputs: the same seed gives the same bits with every compiler and at every -O.
 *
 * Element t of a tensor is a function of (seed, tensor name, t) alone: two 64-bit words from SplitMix64 (Steele, Lea,
 * Flood 2014) used as a counter-based generator, made normal by Box and Muller's cosine branch,
 *     z = sqrt(-2 ln u) cos(2 pi v),   u in (0, 1), v in [0, 1)
 * in double and rounded once to fp32. No product is followed by a sum, so a compiler that fuses the two (FMA) has
 * nothing to fuse.
 */
#ifndef PROBLEM_INPUTS_H
#define PROBLEM_INPUTS_H

#include "problem/problem.h"

/* Element `index` of the standard normal stream that belongs to a tensor. */
float input_normal(uint64_t seed, const char *tensor, size_t index);

/*
 * Fills a tensor of an attention problem, shape [B, H, N, d], in the problem's input kind. K, V and any other tensor
 * (dO) are standard normal unless the kind says otherwise; V always has random elements, so that a key that was
 * dropped or doubled shows in the output. With the default scale 1/sqrt(d):
 *
 *   large-logits   Q and K times 50, a constant: scores have a deviation of 2,500 and reach +-1e4
 *   very-negative  q = 16 + z/4, k = -(16 + z/4): scores about -256 sqrt(d), every one below -104, where exp
 * underflows constant       q = k = 1: every score sqrt(d) one-hot        q_i = 64 k_t for a random token t <= i: key
 * t wins its row, also under a causal mask ramp           q = 1, k_j = 8 (j+1)/N: scores grow with j; v rises from -1
 * to 1 over the tensor
 */
void input_fill_attention(const struct problem *problem, const char *tensor, float *values);

#endif
