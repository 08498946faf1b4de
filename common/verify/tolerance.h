/*
 * How far an element of an output may be from its double reference: the one tolerance of attention.
 *
 * The tolerance follows the arithmetic instead of being guessed, and each element has its own: a product of the
 * largest numbers of each tensor would be so large for peaked weights that gradients of nothing but zeros pass. With
 *
 *     eps  = 2^-23         one unit in the last place of an fp32 near 1
 *     eta  = 2^-126        the smallest normal fp32: an exponential below it may be flushed to 0
 *     S_i  = max_j |scale| (8 sum_c |q_ic k_jc| + 1/2 R_ij) + 8 b_ij + 4 c         over the keys j query i sees
 *
 * a score of query i is off by at most about eps S_i:
 *
 *     8 sum_c |q k|             scale (or scale log2 e) times q, m and L: each rounds a number as large as the score,
 *                               and exp turns an absolute error of a score into a relative one of its weight
 *     1/2 R                     the dot product: each addition rounds its partial sum by eps/2. R adds up the partial
 *                               sums' magnitudes: signs that change keep them small, terms of one sign do not, and
 *                               then roundings may agree, too. It is the largest of the orders in use: from the first
 *                               term to the last, from the last to the first, and with 2 or 4 sums side by side, which
 *                               meet at the end. With 8 or more sums no partial sum has more than 16 terms, and the
 *                               first term covers them (d <= 128)
 *     8 b                       a bias of ALiBi, as large as a score
 *     4 c                       a soft-cap, whose tanh may be made of exponentials: of the smallest scores, too,
 *                               1 - 2 / (exp(2x) + 1) is off by up to 2 eps, and so is that of the largest score.
 *                               Only while c <= 128: with a larger cap nothing would be judged, and tanhf has no such error
 *
 * and a weight p_ij of the softmax, in fp32 and in any of these orders, by at most about eps phi_i p_ij + eta:
 *
 *     phi_i = 8 + N/2 + S_i     8: the exponential and the division, a few roundings each
 *                               N/2: N terms summed, in the numerator and in the denominator
 *
 * and O, LSE and dV are sums of such weights times numbers that are given:
 *
 *     tolerance(O_ic)  = sum_j (eps phi_i p_ij + eta) |v_jc|
 *     tolerance(LSE_i) = eps phi_i
 *     tolerance(dV_jc) = sum_i (eps phi_i p_ij + eta) |dO_ic|
 *
 * dS_ij = p_ij (dP_ij - D_i) is a difference of two dot products. Their own roundings are relative to their terms g,
 * what the weights are off by is relative to their values h:
 *
 *     g_ij = sum_c |dO_ic v_jc| + sum_c |dO_ic| sum_j p_ij |v_jc|         h_ij = |dP_ij| + sum_j p_ij |dP_ij|
 *
 *     tolerance(dS_ij) = eps p_ij ((8 + N/2 + d/2) g_ij + S_i h_ij) + eta (1 + g_ij)
 *     tolerance(dQ_ic) = |scale| sum_j tolerance(dS_ij) |k_jc|
 *     tolerance(dK_jc) = |scale| sum_i tolerance(dS_ij) |q_ic|
 *
 * Where a weight is near 1, dP - D cancels and no fp32 gradient means anything: there the tolerance exceeds the
 * gradient, and the comparison says so (verify/check.h, `power`).
 *
 * A row as a whole. The bounds above are reached if all roundings agree. Their signs are as good as random, so of a
 * whole row squares add up instead. A rounding deviates by at most eps |value| / sqrt(12). In units of eps / sqrt(12),
 *
 *     T_i^2   = max_j scale^2 (R_ij^2 / 16 + sum_c (q_ic k_jc)^2) + 8 s_ij^2   variance of the scores of query i
 *     Phi_i^2 = 16 + N + T_i^2                                           of its weights, relative to them
 *
 *     R^2/16 the dot product's roundings, as if all agreed: 2 eps R/4 are the 1/2 eps R from above. They do agree where
 *            the same term is added again and again, as in a ramp
 *     8 s^2  scale, log2 e, m, L and the subtraction each round a number as large as the score.
 *            So do a bias of ALiBi, b, and a soft-cap, c, whose tanh may be a difference of exponentials: 8 b^2, and 8 c^2
 *            while c <= 128
 *     16     the exponential and the division;   N   terms summed, in the numerator and in the denominator
 *
 * The roundings of a row's weights may differ by key (then |v_j|^2 add up) or be the same (then O is off by a factor):
 *
 *     V(O_i)   = Phi_i^2 (sum_j p_ij^2 |v_j|^2 + |O_i|^2)
 *     V(dV_j)  = sum_i Phi_i^2 p_ij^2 |dO_i|^2 + max_i Phi_i^2 |dV_j|^2
 *     V(D_i)   = (Phi_i^2 + d) (sum_j p_ij^2 t_ij + D_i^2) + d sum_j p_ij t_ij         t_ij = sum_c (dO_ic v_jc)^2
 *     V(dS_ij) = p_ij^2 (Phi_i^2 (dP_ij - D_i)^2 + d (t_ij + dP_ij^2) + V(D_i))
 *     V(dQ_i)  = scale^2 (sum_j V(dS_ij) |k_j|^2 + V(D_i) sum_j p_ij |k_j|^2) + Phi_i^2 |dQ_i|^2
 *     V(dK_j)  = scale^2 sum_i V(dS_ij) |q_i|^2 + max_i Phi_i^2 |dK_j|^2
 *
 *     |row - reference| <= 2 eps sqrt(V)          |.|: the root of the sum of squares
 *
 * and N eta^2 is added for each weight, which may be flushed to 0. 2 eps are 6.9 deviations. A row x in the place of r
 * that is off by a factor, <x, r> / <r, r>, fails where the factor differs from 1 by more than 2 eps sqrt(V) / |r|.
 *
 * Assumed: roundings are independent, and the elements of V and dO have no common size and sign. That is so for every
 * kind of generated input (problem/inputs.h); of --load nobody knows it, and no row is judged. Every order of
 * arithmetic in tests/harness/test_check.c, which has the command, passed on 10,000 shapes of every kind; the largest part
 * of a bound was 0.78, of O in a ramp, and elsewhere 0.66.
 *
 * Where only sampled rows of random input are compared at N > 1024, the errors of a sum grow like a random walk, and
 * 2 sqrt(N) stands in the place of N/2.
 */
#ifndef VERIFY_TOLERANCE_H
#define VERIFY_TOLERANCE_H

#include <stdbool.h>
#include <stddef.h>

#define TOLERANCE_EPS       0x1p-23
#define TOLERANCE_ETA       0x1p-126
#define LARGEST_ROUNDED_CAP 128.0f /* of a class (classroom/variants.tsv) */

struct tolerance_terms {
	size_t seq, dim;
	bool random_walk;      /* rows of random input are sampled */
	double score_bound;    /* S_i */
	double score_variance; /* T_i^2 */
};

/* q . k, [d] each, d at most 128, and what it adds to S_i, 8 sum |q k| + 1/2 R, and to T_i^2, R^2/16 + sum (q k)^2. */
double dot_and_bound(const float *q, const float *k, size_t d, double *bound, double *variance);

/* phi_i */
double tolerance_factor(const struct tolerance_terms *terms);

/* eps phi p + eta */
double tolerance_of_weight(double factor, double weight);

/* Phi_i^2 */
double variance_factor(const struct tolerance_terms *terms);

/* What a flushed weight adds to a variance, times the square of what it is multiplied by: N eta^2. */
double flushed_variance(const struct tolerance_terms *terms);

/* 2 eps sqrt(V) */
double row_bound(double variance);

/* tolerance(dS_ij), from p, g and h */
double tolerance_of_score_gradient(
	const struct tolerance_terms *terms, double weight, double products, double values);

#endif
