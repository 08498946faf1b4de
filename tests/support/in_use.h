/* Kills: a free that is lost, where a run makes the same again and again. */
#ifndef IN_USE_H
#define IN_USE_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>

/* How often a run makes it: the first times leave what the C library keeps of printing, of threads, and to hand out again. */
enum { IN_USE_TIMES = 32 };

/* Bytes that malloc gave and nobody gave back; 0 where the C library does not say (under a sanitizer, which looks
 * itself). */
static inline size_t bytes_in_use(void)
{
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
	struct mallinfo2 of = mallinfo2();
	return of.uordblks + of.hblkhd;
#else
	return 0;
#endif
}

/* Is more in use the longer it goes on? By a few bytes it changes both ways: which thread gives something back, and to
 * whom, is chance. */
static inline bool grows(const size_t in_use[IN_USE_TIMES])
{
	enum { QUARTER = IN_USE_TIMES / 4 };
	size_t most_before = 0, least_after = (size_t)-1;
	for (int i = QUARTER; i < 2 * QUARTER; i++)
		most_before = in_use[i] > most_before ? in_use[i] : most_before;
	for (int i = 3 * QUARTER; i < IN_USE_TIMES; i++)
		least_after = in_use[i] < least_after ? in_use[i] : least_after;
	return least_after > most_before;
}

#endif
