/*
 * Independent parts of a long computation on the host, spread over its cores.
 *
 * How many parts there are is the caller's choice and must not depend on the machine: then neither does a result.
 */
#ifndef SUPPORT_PARALLEL_H
#define SUPPORT_PARALLEL_H

#include <stddef.h>

/* Calls part(context, i) once for every i < count, on as many threads as there are cores; returns when all are done.
 */
void parallel_run(size_t count, void (*part)(void *context, size_t index), void *context);

#endif
