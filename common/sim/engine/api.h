/*
 * What the files of the CUDA runtime API share: api_device.c, api_memory.c, api_streams.c, api_kernels.c. Work is
 * synchronous; each call clears or returns errors as CUDA's own does. Calls that wait for the device on a GPU begin
 * with sim_wait_for_device(): there the fault of a launch becomes known.
 */
#ifndef SIM_API_H
#define SIM_API_H

#include "engine.h"

#define RETURN_IF_STICKY()                                                                                           \
	do {                                                                                                         \
		const cudaError_t sticky_ = sim_sticky_error();                                                      \
		if (sticky_ != cudaSuccess)                                                                          \
			return sticky_;                                                                              \
	} while (0)

#define RETURN_IF(condition, error)                                                                                  \
	do {                                                                                                         \
		if (condition)                                                                                       \
			return sim_return(error);                                                                    \
	} while (0)

enum {
	MAX_THREADS_PER_BLOCK = 1024,
	RESERVED_SHARED_BYTES = 1024, /* of each block, for the system: compute capability 8.0 and up */
};

#endif
