/* Seconds on a clock that only goes forward, from a beginning that means nothing. */
#ifndef SUPPORT_CLOCK_H
#define SUPPORT_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
