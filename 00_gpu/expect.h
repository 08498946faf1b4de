/*
 * Chapter 00: what the outputs of its kernels should be.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"

/*
 * The places "grid", "block", "thread", "warp", "lane" [R, C], and, from the host values of x [R, C], "y" [R, C], its
 * transpose "y" [C, R] and the sums of its rows "y" [R]. All but the sums have to be exact.
 *
 * Each addition of a sum rounds its result by eps/2 of it at most, eps = 2^-23. With s_k all the results on the way,
 *
 *     tolerance(y_r) = eps/2 sum_k |s_k|
 *
 * for the larger of two orders (Higham, Accuracy and Stability, 4.2): one running sum, and 256 running sums of every 256th
 * element that meet in a tree. Of more than 2^16 columns only the second: nothing adds so many up one by one, and the
 * bound of a single running sum would let zeros pass.
 *
 * Beyond 2^26 elements, SAMPLED_ROWS rows of each output are compared.
 */
int places_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

#endif
