/*
 * A loop over independent indices, spread over the machine's cores.
 */
#ifndef SUPPORT_PARALLEL_H
#define SUPPORT_PARALLEL_H

#include <stddef.h>

/* Calls `run` for stretches first ... end - 1 that together are 0 ... count - 1, each once, several at a time; returns when
 * all have. Where no thread can be started, the caller's does the work. */
void parallel_for(size_t count, void (*run)(void *argument, size_t first, size_t end), void *argument);

#endif
