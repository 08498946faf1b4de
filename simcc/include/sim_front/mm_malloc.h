/* In place of clang's own, which declares posix_memalign() for the host again. */
#ifndef SIM_FRONT_MM_MALLOC_H
#define SIM_FRONT_MM_MALLOC_H

#include <stdlib.h>

static inline void *_mm_malloc(size_t bytes, size_t align)
{
	void *found = 0;
	return posix_memalign(&found, align < sizeof found ? sizeof found : align, bytes) == 0 ? found : 0;
}

static inline void _mm_free(void *pointer)
{
	free(pointer);
}

#endif
