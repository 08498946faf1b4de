/* The C++ faces of the API: typed pointers, symbols by name, kernels as they are. */
#ifndef SIM_CUDA_API_TEMPLATES_H
#define SIM_CUDA_API_TEMPLATES_H

#include <cuda_runtime_api.h>

#define SIM_API                                                                                                      \
	template <class Type_>                                                                                       \
	static inline cudaError_t

SIM_API cudaMalloc(Type_ **pointer, size_t bytes)
{
	return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}
SIM_API cudaMallocAsync(Type_ **pointer, size_t bytes, cudaStream_t stream)
{
	return cudaMallocAsync(reinterpret_cast<void **>(pointer), bytes, stream);
}
SIM_API cudaMallocPitch(Type_ **pointer, size_t *pitch, size_t width, size_t height)
{
	return cudaMallocPitch(reinterpret_cast<void **>(pointer), pitch, width, height);
}
SIM_API cudaMallocHost(Type_ **pointer, size_t bytes, unsigned flags = 0)
{
	return cudaHostAlloc(reinterpret_cast<void **>(pointer), bytes, flags);
}
SIM_API cudaHostAlloc(Type_ **pointer, size_t bytes, unsigned flags)
{
	return cudaHostAlloc(reinterpret_cast<void **>(pointer), bytes, flags);
}
SIM_API cudaMallocManaged(Type_ **pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal)
{
	return cudaMallocManaged(reinterpret_cast<void **>(pointer), bytes, flags);
}
SIM_API cudaHostGetDevicePointer(Type_ **device, void *host, unsigned flags)
{
	return cudaHostGetDevicePointer(reinterpret_cast<void **>(device), host, flags);
}

SIM_API cudaMemcpyToSymbol(
	const Type_ &symbol, const void *from, size_t bytes, size_t offset = 0,
	cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
	return cudaMemcpyToSymbol(reinterpret_cast<const void *>(&symbol), from, bytes, offset, kind);
}
SIM_API cudaMemcpyToSymbolAsync(
	const Type_ &symbol, const void *from, size_t bytes, size_t offset = 0,
	cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr)
{
	return cudaMemcpyToSymbolAsync(reinterpret_cast<const void *>(&symbol), from, bytes, offset, kind, stream);
}
SIM_API cudaMemcpyFromSymbol(
	void *to, const Type_ &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
	return cudaMemcpyFromSymbol(to, reinterpret_cast<const void *>(&symbol), bytes, offset, kind);
}
SIM_API cudaMemcpyFromSymbolAsync(
	void *to, const Type_ &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
	cudaStream_t stream = nullptr)
{
	return cudaMemcpyFromSymbolAsync(to, reinterpret_cast<const void *>(&symbol), bytes, offset, kind, stream);
}
SIM_API cudaGetSymbolAddress(void **pointer, const Type_ &symbol)
{
	return cudaGetSymbolAddress(pointer, reinterpret_cast<const void *>(&symbol));
}
SIM_API cudaGetSymbolAddress(Type_ **pointer, const Type_ &symbol)
{
	return cudaGetSymbolAddress(reinterpret_cast<void **>(pointer), reinterpret_cast<const void *>(&symbol));
}
SIM_API cudaGetSymbolSize(size_t *size, const Type_ &symbol)
{
	return cudaGetSymbolSize(size, reinterpret_cast<const void *>(&symbol));
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags)
{
	return cudaEventCreateWithFlags(event, flags);
}

SIM_API cudaFuncSetAttribute(Type_ *kernel, cudaFuncAttribute attribute, int value)
{
	return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
SIM_API cudaFuncGetAttributes(cudaFuncAttributes *attributes, Type_ *kernel)
{
	return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
SIM_API cudaFuncSetCacheConfig(Type_ *kernel, cudaFuncCache config)
{
	return cudaFuncSetCacheConfig(reinterpret_cast<const void *>(kernel), config);
}
SIM_API
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Type_ kernel, int block_size, size_t dynamic_shared_bytes)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
		blocks, reinterpret_cast<const void *>(kernel), block_size, dynamic_shared_bytes);
}
SIM_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, Type_ kernel, int block_size, size_t dynamic_shared_bytes, unsigned flags)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
		blocks, reinterpret_cast<const void *>(kernel), block_size, dynamic_shared_bytes, flags);
}

/* The largest block that keeps the most threads on an SM; shared_of(block size) gives its dynamic shared memory. */
template <class Callable_, class Type_>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(
	int *min_grid_size, int *block_size, Type_ kernel, Callable_ shared_of, int limit = 0)
{
	int sms = 0, best_threads = 0;
	cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);

	if (min_grid_size == nullptr || block_size == nullptr || error != cudaSuccess)
		return error != cudaSuccess ? error : cudaErrorInvalidValue;
	for (int size = limit > 0 && limit < 1024 ? limit : 1024; size > 0; size = (size - 1) / 32 * 32) {
		int blocks = 0;

		error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
			&blocks, kernel, size, static_cast<size_t>(shared_of(size)));
		if (error != cudaSuccess)
			return error;
		if (blocks * size > best_threads) {
			best_threads = blocks * size;
			*block_size = size;
			*min_grid_size = blocks * sms;
		}
	}
	return best_threads > 0 ? cudaSuccess : cudaErrorInvalidConfiguration;
}
SIM_API cudaOccupancyMaxPotentialBlockSize(
	int *min_grid_size, int *block_size, Type_ kernel, size_t dynamic_shared_bytes = 0, int limit = 0)
{
	return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
		min_grid_size, block_size, kernel, [=](int) { return dynamic_shared_bytes; }, limit);
}

#undef SIM_API

#endif
