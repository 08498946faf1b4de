/*
 * The CUDA runtime API of the simulated device. C11 and C++.
 *
 * One device, number 0. All work is synchronous: when a call returns, its work is done, so streams and events
 * order nothing that is not ordered already. Every function returns CUDA's own error codes; a launch that faulted
 * leaves an error that every later call returns until cudaDeviceReset.
 */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include <sim_cuda/both.h>

SIM_FOR_BOTH
#include <driver_types.h>

#define CUDART_VERSION 13000

#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#ifndef CUDART_CB
#define CUDART_CB
#endif

/* Host code of other compilers may carry the qualifiers; in a .cu file simcc reads them. */
#ifndef __CUDACC__
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#endif

#ifdef __cplusplus
#define SIM_DEFAULT(value) = value
extern "C" {
#else
#define SIM_DEFAULT(value)
#endif

/* ---- errors ---- */
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

/* ---- device ---- */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned *flags);
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);

/* ---- memory ---- */
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
/* Not supported: memory both sides see; they return cudaErrorNotSupported and say so. */
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags SIM_DEFAULT(cudaMemAttachGlobal));
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(
	void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream SIM_DEFAULT(0));
cudaError_t cudaMemcpy2D(
	void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
	enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(
	void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
	enum cudaMemcpyKind kind, cudaStream_t stream SIM_DEFAULT(0));
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream SIM_DEFAULT(0));
cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(
	void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream SIM_DEFAULT(0));
cudaError_t cudaMemcpyToSymbol(
	const void *symbol, const void *from, size_t bytes, size_t offset SIM_DEFAULT(0),
	enum cudaMemcpyKind kind SIM_DEFAULT(cudaMemcpyHostToDevice));
cudaError_t cudaMemcpyToSymbolAsync(
	const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
	cudaStream_t stream SIM_DEFAULT(0));
cudaError_t cudaMemcpyFromSymbol(
	void *to, const void *symbol, size_t bytes, size_t offset SIM_DEFAULT(0),
	enum cudaMemcpyKind kind SIM_DEFAULT(cudaMemcpyDeviceToHost));
cudaError_t cudaMemcpyFromSymbolAsync(
	void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
	cudaStream_t stream SIM_DEFAULT(0));
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer);

/* ---- streams and events ---- */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags SIM_DEFAULT(0));
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream SIM_DEFAULT(0));
cudaError_t cudaEventRecordWithFlags(
	cudaEvent_t event, cudaStream_t stream SIM_DEFAULT(0), unsigned flags SIM_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
/* CPU time that passed between the two: it says nothing about a GPU's. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

/* ---- kernels ---- */
/* From C++, pass the kernel itself: the typed overload in cuda_runtime.h runs it. An untyped address does not say
 * what the arguments are, so this one returns cudaErrorInvalidDeviceFunction. */
cudaError_t cudaLaunchKernel(
	const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config);
/* By threads, blocks and shared memory of the chosen GPU; registers are not known here and do not limit it. */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
	int *blocks, const void *kernel, int block_size, size_t dynamic_shared_bytes);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, const void *kernel, int block_size, size_t dynamic_shared_bytes, unsigned flags);

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

/* ---- in terms of the above: names of old, and what one device has to say about others ---- */
#define SIM_API_INLINE static inline __attribute__((unused)) cudaError_t
SIM_API_INLINE cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}
SIM_API_INLINE cudaThreadExit(void)
{
	return cudaDeviceReset();
}
SIM_API_INLINE cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
	return cudaDeviceSetCacheConfig(config);
}
SIM_API_INLINE cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	(void)peer, (void)flags;
	return cudaErrorInvalidDevice;
}
SIM_API_INLINE cudaDeviceDisablePeerAccess(int peer)
{
	(void)peer;
	return cudaErrorInvalidDevice;
}
SIM_API_INLINE cudaMemcpyPeerAsync(
	void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream SIM_DEFAULT(0))
{
	if (to_device != 0 || from_device != 0)
		return cudaErrorInvalidDevice;
	return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
SIM_API_INLINE cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
	return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, 0);
}
#undef SIM_API_INLINE

#ifdef __cplusplus
}
#endif
#undef SIM_DEFAULT

SIM_FOR_BOTH_END

#endif
