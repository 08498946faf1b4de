/* The CUDA runtime API: launches by address, attributes of kernels, occupancy. */
#include <stdio.h>

#include "api.h"

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                             cudaStream_t stream)
{
	(void)kernel, (void)grid, (void)block, (void)arguments, (void)shared_bytes, (void)stream;
	RETURN_IF_STICKY();
	fprintf(stderr, "cudaLaunchKernel: an untyped address does not tell the simulated device what the kernel's "
	                "arguments are; pass the kernel itself, cudaLaunchKernel(kernel, ...), or use <<<>>>\n");
	return sim_return(cudaErrorInvalidDeviceFunction);
}

/* The kernel at an address. Plain builds have no table of kernels: then NULL, and any address is taken for one. */
static bool is_kernel(const void *address, const struct sim_function **function)
{
	*function = sim_function_at(address);
	return *function != NULL ? (*function)->is_kernel != 0 : address != NULL && !sim_is_counting();
}

static size_t static_shared(const struct sim_function *function)
{
	return function != NULL ? sim_static_shared_bytes(function) : 0;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
	const struct sim_function *function;

	RETURN_IF_STICKY();
	RETURN_IF(!is_kernel(kernel, &function), cudaErrorInvalidDeviceFunction);
	switch (attribute) {
	case cudaFuncAttributeMaxDynamicSharedMemorySize:
		RETURN_IF(value < 0, cudaErrorInvalidValue);
		return sim_return(sim_set_dynamic_shared_limit(kernel, (size_t)value));
	case cudaFuncAttributePreferredSharedMemoryCarveout: /* a hint */
		return sim_return(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
	default: return sim_return(cudaErrorInvalidValue);
	}
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
	const struct gpu *gpu = sim_options()->gpu;
	const struct sim_function *function;

	RETURN_IF_STICKY();
	RETURN_IF(attributes == NULL, cudaErrorInvalidValue);
	RETURN_IF(!is_kernel(kernel, &function), cudaErrorInvalidDeviceFunction);
	*attributes = (struct cudaFuncAttributes){
		.sharedSizeBytes = static_shared(function),
		.maxThreadsPerBlock = MAX_THREADS_PER_BLOCK,
		.ptxVersion = gpu->compute_major * 10 + gpu->compute_minor,
		.binaryVersion = gpu->compute_major * 10 + gpu->compute_minor,
		.maxDynamicSharedSizeBytes = (int)sim_dynamic_shared_limit(kernel),
		.preferredShmemCarveout = -1,
	};
	return sim_return(cudaSuccess);
}

cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
	const struct sim_function *function;

	(void)config;
	RETURN_IF_STICKY();
	return sim_return(is_kernel(kernel, &function) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

static int minimum(int a, int b)
{
	return a < b ? a : b;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int block_size,
                                                          size_t dynamic_shared_bytes)
{
	const struct gpu *gpu = sim_options()->gpu;
	const int warps = (block_size + 31) / 32;
	const struct sim_function *function;
	size_t shared;

	RETURN_IF_STICKY();
	RETURN_IF(blocks == NULL || block_size <= 0, cudaErrorInvalidValue);
	RETURN_IF(!is_kernel(kernel, &function), cudaErrorInvalidDeviceFunction);
	*blocks = 0;
	shared = static_shared(function) + dynamic_shared_bytes;
	if (block_size > MAX_THREADS_PER_BLOCK || shared > gpu->shared_per_block ||
	    dynamic_shared_bytes > sim_dynamic_shared_limit(kernel))
		return sim_return(cudaSuccess);
	/* allocated in units of 128 bytes, with what the system takes of each block */
	shared = (shared + RESERVED_SHARED_BYTES + 127) / 128 * 128;
	*blocks = minimum(gpu->max_blocks_per_sm, gpu->max_threads_per_sm / (warps * 32));
	*blocks = minimum(*blocks, (int)(gpu->shared_per_sm / shared));
	return sim_return(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel, int block_size,
                                                                   size_t dynamic_shared_bytes, unsigned flags)
{
	(void)flags;
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, dynamic_shared_bytes);
}
