/* Kills: a free that is lost, where a run makes the same again and again. */
#ifndef IN_USE_H
#define IN_USE_H

#include <malloc.h>
#include <stddef.h>

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

#endif
