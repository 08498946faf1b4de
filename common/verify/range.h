/*
 * Can fp32 hold what attention computes on its way? With |x| the length of the longest row of a tensor, nothing exceeds
 *
 *     q.k                       |q| |k|
 *     scores, in base 2, too    |scale| log2 e |q| |k|
 *     O before the division     N |v|
 *     dP - D, dV                2 |dO| |v|,  N |dO|
 *     dQ, dK                    N |scale| 2 |dO| |v| |k|,  N |scale| 2 |dO| |v| |q|
 *
 * by the inequality of Cauchy and Schwarz, and p <= 1. Beyond fp32 a kernel that is right writes NaN, and no tolerance judges it.
 */
#ifndef VERIFY_RANGE_H
#define VERIFY_RANGE_H

#include "problem/tensor.h"
#include "support/error.h"

/* `tensors`: a kernel's; those of attention are known by their names. EXIT_USAGE where a bound is beyond fp32. */
int range_check(
	const struct tensor *tensors, const struct problem *problem, const struct named_values *inputs,
	struct error *error);

#endif
