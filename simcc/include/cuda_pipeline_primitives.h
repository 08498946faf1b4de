/*
 * Asynchronous copies from global to shared memory, as functions: __pipeline_memcpy_async() is PTX's cp.async,
 * __pipeline_commit() makes a group of those issued since the last one, __pipeline_wait_prior(n) waits for all groups but
 * the last n. (CUDA C++ Programming Guide, "Pipeline Primitives Interface".)
 */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include <cuda_runtime.h>

#pragma sim_missing function __pipeline asynchronous copies

#if defined(__cplusplus) && defined(__CUDACC__)

/* `bytes`: 4, 8 or 16, to which both addresses are aligned. The last `zero_bytes` of them are 0 and not read. */
extern __device__ void __pipeline_memcpy_async(
	void *to, const void *from, size_t bytes, size_t zero_bytes = 0) __asm__("sim_copy_async");
extern __device__ void __pipeline_commit() __asm__("sim_copies_commit");
extern __device__ void __pipeline_wait_prior(unsigned most) __asm__("sim_copies_wait");

#endif
#endif
