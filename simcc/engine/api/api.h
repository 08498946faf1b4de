/*
 * What the files of the CUDA runtime API share. Work is synchronous; each call clears or returns errors as CUDA's own
 * does. Calls that wait for the device on a GPU begin with sim_wait_for_device(): there the fault of a launch becomes
 * known.
 */
#ifndef SIM_API_H
#define SIM_API_H

#include "run/run.h"

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

enum { RESERVED_SHARED_BYTES = 1024 }; /* of each block, for the system: compute capability 8.0 and up */

/* ---- errors.c ---- */

/* Sets what cudaGetLastError returns, unless a sticky error is there; returns what the call should return. */
cudaError_t sim_return(cudaError_t error);
/* A launch has ended with this error. As on a GPU the host hears of it where it next waits for the device; what it
 * asks of the device until then is accepted and not done. */
void sim_set_fault(cudaError_t error);
cudaError_t sim_unseen_fault(void); /* cudaSuccess if none */
void sim_wait_for_device(void);
/* The fault that the host has heard of, which every call returns until cudaDeviceReset; cudaSuccess if none. */
cudaError_t sim_sticky_error(void);
/* cudaGetLastError (clear) and cudaPeekAtLastError. */
cudaError_t sim_last_error(bool clear);
void sim_clear_errors(void); /* cudaDeviceReset */
/* A misuse of the CUDA API seen on the host (memcheck): prints it in compute-sanitizer's manner, counts it as an
 * error and returns `error` through sim_return. */
cudaError_t sim_api_hazard(cudaError_t error, const char *function, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- host_memory.c: what is known of the host's own memory ---- */

/* What the program may use of it; is_pinned: by cudaMallocHost. `first` may be NULL. */
void sim_add_host_block(void *first, size_t size, bool is_pinned);
void sim_remove_host_block(const void *first);
/* cudaSuccess if `bytes` bytes of host memory may be copied, as far as can be known; else reported, as of `function`. */
cudaError_t check_host_extent(const char *function, const char *role, const void *pointer, size_t bytes);

/* ---- streams.c ---- */

/* One that was created and not destroyed, or a standard one. */
bool is_stream(cudaStream_t stream);

/* ---- limits.c: launches a GPU would refuse ---- */

/* cudaSuccess, or why a GPU would not accept the launch. */
cudaError_t check_shape(const struct request *request);
cudaError_t refuse_stream(const struct request *request); /* of a launch whose stream is none */
cudaError_t check_shared_memory(const struct request *request, const void *kernel);
/* cudaFuncAttributeMaxDynamicSharedMemorySize for a kernel. */
cudaError_t sim_set_dynamic_shared_limit(const void *kernel, size_t bytes);
size_t sim_dynamic_shared_limit(const void *kernel);

#endif
