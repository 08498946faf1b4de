/* Numbers for people. */
#ifndef SUPPORT_NUMBER_H
#define SUPPORT_NUMBER_H

#include <math.h>

/*
 * A NaN without its sign, which means nothing and differs from machine to machine: 0/0 has it on x86 and has none on
 * 64-bit ARM, and printf writes it, "-nan". For every number that is printed and may be a kernel's.
 */
static inline double without_nan_sign(double value)
{
	return isnan(value) ? (double)NAN : value;
}

#endif
