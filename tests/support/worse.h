/* The larger of two errors, where NaN is the worst: fmax would drop it. */
#ifndef TEST_WORSE_H
#define TEST_WORSE_H

#include <math.h>

static inline double worse_of(double a, double b)
{
	return isnan(a) || b <= a ? a : b;
}

#endif
