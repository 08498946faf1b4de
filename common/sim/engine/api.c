/*
 * The CUDA runtime API. Work is synchronous; streams and events are objects that remember little.
 *
 * memcheck on the host: a copy or a set must stay inside one live allocation and name the right side of the bus.
 * Otherwise it is reported, CUDA's own error is returned, and nothing is written.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* ---- errors ---- */

#define ENTRY(name, number, message) {name, #name, message},
static const struct {
	cudaError_t error;
	const char *name, *message;
} error_table[] = {SIM_CUDA_ERRORS(ENTRY)};
#undef ENTRY

const char *cudaGetErrorName(cudaError_t error)
{
	for (size_t i = 0; i < sizeof error_table / sizeof *error_table; i++)
		if (error_table[i].error == error)
			return error_table[i].name;
	return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	for (size_t i = 0; i < sizeof error_table / sizeof *error_table; i++)
		if (error_table[i].error == error)
			return error_table[i].message;
	return "unrecognized error code";
}

cudaError_t cudaGetLastError(void)
{
	return sim_last_error(true);
}

cudaError_t cudaPeekAtLastError(void)
{
	return sim_last_error(false);
}

static cudaError_t not_supported(const char *function, const char *instead)
{
	fprintf(stderr, "%s is not supported by the simulated device%s%s\n", function, instead[0] ? ": " : "",
	        instead);
	return sim_return(cudaErrorNotSupported);
}

/* ---- device ---- */

enum {
	MAX_THREADS_PER_BLOCK = 1024,
	CONSTANT_BYTES = 64 * 1024,
	RESERVED_SHARED_BYTES = 1024, /* of each block, for the system: compute capability 8.0 and up */
	DRIVER_VERSION = 13000,
	BUS_BITS = 5120, /* HBM; only its product with the memory clock means anything here */
};

static int memory_clock_khz(const struct gpu *gpu)
{
	return (int)(gpu->hbm_bytes_per_s / (2.0 * BUS_BITS / 8) / 1e3); /* two transfers a clock */
}

cudaError_t cudaGetDeviceCount(int *count)
{
	RETURN_IF(count == NULL, cudaErrorInvalidValue);
	*count = 1;
	return sim_return(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device)
{
	RETURN_IF(device == NULL, cudaErrorInvalidValue);
	*device = 0;
	return sim_return(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
	RETURN_IF_STICKY();
	return sim_return(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	(void)device_flags, (void)flags;
	return cudaSetDevice(device);
}

static unsigned device_flags;

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	device_flags = flags;
	return sim_return(cudaSuccess);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	RETURN_IF(flags == NULL, cudaErrorInvalidValue);
	*flags = device_flags;
	return sim_return(cudaSuccess);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties)
{
	RETURN_IF(properties == NULL, cudaErrorInvalidValue);
	return cudaGetDevice(device);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
	const struct gpu *gpu = sim_options()->gpu;
	struct cudaDeviceProp p = {
		.totalGlobalMem = gpu->memory_bytes,
		.sharedMemPerBlock = GPU_SHARED_WITHOUT_OPT_IN,
		.regsPerBlock = gpu->registers_per_sm,
		.warpSize = 32,
		.memPitch = 0x7fffffff,
		.maxThreadsPerBlock = MAX_THREADS_PER_BLOCK,
		.maxThreadsDim = {1024, 1024, 64},
		.maxGridSize = {0x7fffffff, 65535, 65535},
		.clockRate = (int)(gpu->clock_hz / 1e3),
		.totalConstMem = CONSTANT_BYTES,
		.major = gpu->compute_major,
		.minor = gpu->compute_minor,
		.textureAlignment = 512,
		.texturePitchAlignment = 32,
		.multiProcessorCount = gpu->sms,
		.concurrentKernels = 1,
		.pciBusID = 1,
		.asyncEngineCount = 1,
		.unifiedAddressing = 1,
		.memoryClockRate = memory_clock_khz(gpu),
		.memoryBusWidth = BUS_BITS,
		.l2CacheSize = (int)gpu->l2_bytes,
		.maxThreadsPerMultiProcessor = gpu->max_threads_per_sm,
		.globalL1CacheSupported = 1,
		.localL1CacheSupported = 1,
		.sharedMemPerMultiprocessor = gpu->shared_per_sm,
		.regsPerMultiprocessor = gpu->registers_per_sm,
		.singleToDoublePrecisionPerfRatio = gpu->compute_minor == 9 ? 64 : 2,
		.sharedMemPerBlockOptin = gpu->shared_per_block,
		.maxBlocksPerMultiProcessor = gpu->max_blocks_per_sm,
		.reservedSharedMemPerBlock = RESERVED_SHARED_BYTES,
		.hostRegisterSupported = 1,
	};

	RETURN_IF(properties == NULL, cudaErrorInvalidValue);
	RETURN_IF(device != 0, cudaErrorInvalidDevice);
	snprintf(p.name, sizeof p.name, "Simulated %s", gpu->title);
	*properties = p;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	struct cudaDeviceProp p;

	RETURN_IF(value == NULL, cudaErrorInvalidValue);
	RETURN_IF(device != 0, cudaErrorInvalidDevice);
	cudaGetDeviceProperties(&p, device);
	switch (attribute) {
	case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
	case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
	case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
	case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
	case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
	case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
	case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
	case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
	case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; break;
	case cudaDevAttrWarpSize: *value = p.warpSize; break;
	case cudaDevAttrMaxPitch: *value = (int)p.memPitch; break;
	case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
	case cudaDevAttrClockRate: *value = p.clockRate; break;
	case cudaDevAttrTextureAlignment: *value = (int)p.textureAlignment; break;
	case cudaDevAttrGpuOverlap:
	case cudaDevAttrAsyncEngineCount: *value = p.asyncEngineCount; break;
	case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
	case cudaDevAttrConcurrentKernels: *value = p.concurrentKernels; break;
	case cudaDevAttrPciBusId: *value = p.pciBusID; break;
	case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; break;
	case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
	case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
	case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
	case cudaDevAttrUnifiedAddressing: *value = p.unifiedAddressing; break;
	case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
	case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
	case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; break;
	case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
	case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
	case cudaDevAttrHostRegisterSupported: *value = p.hostRegisterSupported; break;
	case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
	case cudaDevAttrReservedSharedMemoryPerBlock: *value = (int)p.reservedSharedMemPerBlock; break;
	/* features the simulated device does not have */
	case cudaDevAttrKernelExecTimeout:
	case cudaDevAttrIntegrated:
	case cudaDevAttrCanMapHostMemory:
	case cudaDevAttrComputeMode:
	case cudaDevAttrEccEnabled:
	case cudaDevAttrPciDeviceId:
	case cudaDevAttrPciDomainId:
	case cudaDevAttrStreamPrioritiesSupported:
	case cudaDevAttrManagedMemory:
	case cudaDevAttrPageableMemoryAccess:
	case cudaDevAttrConcurrentManagedAccess:
	case cudaDevAttrCooperativeLaunch:
	case cudaDevAttrMemoryPoolsSupported:
	case cudaDevAttrClusterLaunch: *value = 0; break;
	default: return sim_return(cudaErrorInvalidValue);
	}
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void)
{
	RETURN_IF_STICKY();
	return sim_return(cudaSuccess);
}

static size_t limits[] = {[cudaLimitStackSize] = 1024,
                          [cudaLimitPrintfFifoSize] = 1 << 20,
                          [cudaLimitMallocHeapSize] = 8 << 20,
                          [cudaLimitDevRuntimeSyncDepth] = 2,
                          [cudaLimitDevRuntimePendingLaunchCount] = 2048,
                          [cudaLimitMaxL2FetchGranularity] = 64,
                          [cudaLimitPersistingL2CacheSize] = 0};

/* Remembered, without effect. */
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	RETURN_IF_STICKY();
	RETURN_IF((size_t)limit >= sizeof limits / sizeof *limits, cudaErrorUnsupportedLimit);
	limits[limit] = value;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	RETURN_IF_STICKY();
	RETURN_IF(value == NULL, cudaErrorInvalidValue);
	RETURN_IF((size_t)limit >= sizeof limits / sizeof *limits, cudaErrorUnsupportedLimit);
	*value = limits[limit];
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	(void)config;
	RETURN_IF_STICKY();
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	RETURN_IF_STICKY();
	RETURN_IF(config == NULL, cudaErrorInvalidValue);
	*config = cudaFuncCachePreferNone;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	RETURN_IF(can == NULL, cudaErrorInvalidValue);
	RETURN_IF(device != 0 || peer != 0, cudaErrorInvalidDevice);
	*can = 0;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least != NULL)
		*least = 0;
	if (greatest != NULL)
		*greatest = 0;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
	RETURN_IF(version == NULL, cudaErrorInvalidValue);
	*version = DRIVER_VERSION;
	return sim_return(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	RETURN_IF(version == NULL, cudaErrorInvalidValue);
	*version = CUDART_VERSION;
	return sim_return(cudaSuccess);
}

cudaError_t cudaProfilerStart(void)
{
	RETURN_IF_STICKY();
	return sim_return(cudaSuccess);
}

cudaError_t cudaProfilerStop(void)
{
	RETURN_IF_STICKY();
	return sim_return(cudaSuccess);
}

/* ---- page-locked host memory: ordinary memory in a list, so that it can be told from device memory ---- */

struct host_range {
	struct host_range *next;
	char *first;
	size_t size;
	bool owned; /* by cudaMallocHost; else registered */
};

static struct host_range *host_ranges;
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;

static bool host_range_add(void *pointer, size_t bytes, bool owned)
{
	struct host_range *range = malloc(sizeof *range);

	if (range == NULL)
		return false;
	pthread_mutex_lock(&host_lock);
	*range = (struct host_range){host_ranges, pointer, bytes, owned};
	host_ranges = range;
	pthread_mutex_unlock(&host_lock);
	return true;
}

/* Takes the range that starts at pointer out of the list; false if there is none. */
static bool host_range_remove(void *pointer, bool owned)
{
	bool found = false;

	pthread_mutex_lock(&host_lock);
	for (struct host_range **place = &host_ranges; *place != NULL; place = &(*place)->next) {
		struct host_range *range = *place;

		if (range->first == pointer && range->owned == owned) {
			*place = range->next;
			free(range);
			found = true;
			break;
		}
	}
	pthread_mutex_unlock(&host_lock);
	return found;
}

static bool host_range_holds(const void *pointer)
{
	bool found = false;

	pthread_mutex_lock(&host_lock);
	for (struct host_range *range = host_ranges; range != NULL && !found; range = range->next)
		found = (uintptr_t)pointer - (uintptr_t)range->first < range->size;
	pthread_mutex_unlock(&host_lock);
	return found;
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	void *memory = NULL;

	(void)flags;
	RETURN_IF_STICKY();
	RETURN_IF(pointer == NULL, cudaErrorInvalidValue);
	*pointer = NULL;
	RETURN_IF(bytes == 0, cudaSuccess);
	RETURN_IF(posix_memalign(&memory, 4096, bytes) != 0, cudaErrorMemoryAllocation);
	if (!host_range_add(memory, bytes, true)) {
		free(memory);
		return sim_return(cudaErrorMemoryAllocation);
	}
	*pointer = memory;
	return sim_return(cudaSuccess);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
	return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

/* Frees even when a faulted launch makes it return that error: the memory is the host's own. */
cudaError_t cudaFreeHost(void *pointer)
{
	if (pointer != NULL && !host_range_remove(pointer, true))
		return sim_api_hazard(cudaErrorInvalidValue, "cudaFreeHost",
		                      sim_memory_is_device((uintptr_t)pointer)
		                              ? "%p is device memory: cudaFree frees it"
		                              : "%p was not allocated by cudaMallocHost, or is freed already",
		                      pointer);
	free(pointer);
	RETURN_IF_STICKY();
	return sim_return(cudaSuccess);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
	(void)flags;
	RETURN_IF_STICKY();
	RETURN_IF(pointer == NULL || bytes == 0, cudaErrorInvalidValue);
	RETURN_IF(host_range_holds(pointer), cudaErrorHostMemoryAlreadyRegistered);
	return sim_return(host_range_add(pointer, bytes, false) ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaHostUnregister(void *pointer)
{
	RETURN_IF_STICKY();
	return sim_return(host_range_remove(pointer, false) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	(void)host, (void)flags;
	if (device != NULL)
		*device = NULL;
	return not_supported("cudaHostGetDevicePointer (mapped host memory)", "copy with cudaMemcpy");
}

/* ---- device memory ---- */

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
	RETURN_IF_STICKY();
	RETURN_IF(pointer == NULL, cudaErrorInvalidValue);
	*pointer = NULL;
	RETURN_IF(bytes == 0, cudaSuccess);
	RETURN_IF((*pointer = sim_memory_allocate(bytes)) == NULL, cudaErrorMemoryAllocation);
	return sim_return(cudaSuccess);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
	(void)stream;
	return cudaMalloc(pointer, bytes);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
	const size_t row = (width + 511) / 512 * 512; /* what a GPU's texture alignment gives */

	RETURN_IF_STICKY();
	RETURN_IF(pitch == NULL || width > SIZE_MAX - 511, cudaErrorInvalidValue);
	RETURN_IF(height != 0 && row > SIZE_MAX / height, cudaErrorMemoryAllocation);
	*pitch = row;
	return cudaMalloc(pointer, row * height);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
	(void)bytes, (void)flags;
	if (pointer != NULL)
		*pointer = NULL;
	return not_supported("cudaMallocManaged (managed memory)", "use cudaMalloc and cudaMemcpy");
}

cudaError_t cudaFree(void *pointer)
{
	RETURN_IF_STICKY();
	RETURN_IF(pointer == NULL, cudaSuccess);
	return sim_return(sim_memory_free(pointer));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
	(void)stream;
	return cudaFree(pointer);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	RETURN_IF_STICKY();
	RETURN_IF(free_bytes == NULL || total_bytes == NULL, cudaErrorInvalidValue);
	*free_bytes = sim_memory_free_bytes();
	*total_bytes = sim_options()->gpu->memory_bytes;
	return sim_return(cudaSuccess);
}

/* Plain builds have no table of __device__ variables: any static data of the program may be one. */
static bool may_be_variable(const void *pointer)
{
	extern char __executable_start[], _end[];

	return !sim_is_counting() && (uintptr_t)pointer >= (uintptr_t)__executable_start &&
	       (uintptr_t)pointer < (uintptr_t)_end;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
	struct sim_allocation *allocation = sim_memory_find((uintptr_t)pointer);

	RETURN_IF_STICKY();
	RETURN_IF(attributes == NULL, cudaErrorInvalidValue);
	*attributes = (struct cudaPointerAttributes){
		.type = cudaMemoryTypeUnregistered, .device = -2, .hostPointer = (void *)(uintptr_t)pointer};
	if (allocation != NULL && !allocation->freed)
		*attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeDevice,
		                                             .devicePointer = (void *)(uintptr_t)pointer};
	else if (host_range_holds(pointer))
		*attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeHost,
		                                             .devicePointer = (void *)(uintptr_t)pointer,
		                                             .hostPointer = (void *)(uintptr_t)pointer};
	return sim_return(cudaSuccess);
}

/* ---- copies ---- */

/* cudaSuccess if [pointer, pointer + bytes) is device memory a copy may touch; else reported, as of `function`. */
static cudaError_t check_device(const char *function, const char *role, const void *pointer, size_t bytes)
{
	const uintptr_t address = (uintptr_t)pointer;
	struct sim_allocation *a;

	if (may_be_variable(pointer))
		return cudaSuccess;
	a = sim_memory_find(address);
	if (a != NULL && !a->freed && bytes <= a->size - (address - a->first))
		return cudaSuccess;
	if (a != NULL && a->freed)
		return sim_api_hazard(cudaErrorInvalidValue, function, "%s %p is inside '%s', which has been freed",
		                      role, pointer, a->name);
	if (a != NULL)
		return sim_api_hazard(cudaErrorInvalidValue, function,
		                      "%s: %zu bytes from byte %zu of '%s' end %zu bytes past its end (it has %zu)",
		                      role, bytes, address - a->first, a->name,
		                      bytes - (a->size - (address - a->first)), a->size);
	if (sim_memory_is_device(address))
		return sim_api_hazard(cudaErrorInvalidValue, function, "%s %p is in no allocation", role, pointer);
	return sim_api_hazard(cudaErrorInvalidValue, function, "%s %p is host memory, not device memory", role,
	                      pointer);
}

static cudaError_t check_host(const char *function, const char *role, const void *pointer)
{
	if (sim_memory_is_device((uintptr_t)pointer))
		return sim_api_hazard(cudaErrorInvalidValue, function, "%s %p is device memory, not host memory",
		                      role, pointer);
	return cudaSuccess;
}

/* cudaSuccess if to_bytes from `to` and from_bytes from `from` may take part in a copy of this kind. */
static cudaError_t check_copy(const char *function, const void *to, size_t to_bytes, const void *from,
                              size_t from_bytes, enum cudaMemcpyKind kind)
{
	bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
	cudaError_t error;

	if (kind == cudaMemcpyDefault) {
		to_device = sim_memory_is_device((uintptr_t)to);
		from_device = sim_memory_is_device((uintptr_t)from);
	} else if ((unsigned)kind > cudaMemcpyDefault) {
		return sim_return(cudaErrorInvalidMemcpyDirection);
	}
	if (to == NULL || from == NULL)
		return sim_api_hazard(cudaErrorInvalidValue, function, "the %s is NULL",
		                      to == NULL ? "destination" : "source");
	error = to_device ? check_device(function, "destination", to, to_bytes)
	                  : check_host(function, "destination", to);
	if (error != cudaSuccess)
		return error;
	return from_device ? check_device(function, "source", from, from_bytes)
	                   : check_host(function, "source", from);
}

static cudaError_t copy(const char *function, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	cudaError_t error;

	RETURN_IF_STICKY();
	RETURN_IF(bytes == 0, cudaSuccess);
	if ((error = check_copy(function, to, bytes, from, bytes, kind)) != cudaSuccess)
		return error;
	memmove(to, from, bytes);
	sim_memory_copied(to, from, bytes);
	return sim_return(cudaSuccess);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	return copy("cudaMemcpy", to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)stream;
	return copy("cudaMemcpyAsync", to, from, bytes, kind);
}

/* Bytes from the first of the first row to the last of the last; false if they cannot be counted. */
static bool span_of(size_t pitch, size_t width, size_t height, size_t *span)
{
	if (width > pitch || (height > 1 && pitch > (SIZE_MAX - width) / (height - 1)))
		return false;
	*span = pitch * (height - 1) + width;
	return true;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
	size_t to_span, from_span;
	cudaError_t error;

	RETURN_IF_STICKY();
	RETURN_IF(width == 0 || height == 0, cudaSuccess);
	RETURN_IF(!span_of(to_pitch, width, height, &to_span) || !span_of(from_pitch, width, height, &from_span),
	          cudaErrorInvalidPitchValue);
	if ((error = check_copy("cudaMemcpy2D", to, to_span, from, from_span, kind)) != cudaSuccess)
		return error;
	for (size_t row = 0; row < height; row++) {
		memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
		sim_memory_copied((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
	}
	return sim_return(cudaSuccess);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)stream;
	return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
	size_t span;
	cudaError_t error;

	RETURN_IF_STICKY();
	RETURN_IF(width == 0 || height == 0, cudaSuccess);
	RETURN_IF(!span_of(pitch, width, height, &span), cudaErrorInvalidPitchValue);
	if ((error = check_device("cudaMemset", "destination", pointer, span)) != cudaSuccess)
		return error;
	for (size_t row = 0; row < height; row++) {
		memset((char *)pointer + row * pitch, value, width);
		sim_memory_copied((char *)pointer + row * pitch, NULL, width);
	}
	return sim_return(cudaSuccess);
}

cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
	(void)stream;
	return cudaMemset2D(pointer, pitch, value, width, height);
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
	return cudaMemset2D(pointer, bytes, value, bytes, 1);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
	(void)stream;
	return cudaMemset(pointer, value, bytes);
}

/* ---- __device__ and __constant__ variables ---- */

/* The variable whose first byte is at symbol, or NULL. */
static struct sim_allocation *variable_at(const void *symbol)
{
	struct sim_allocation *variable = sim_memory_find((uintptr_t)symbol);

	return variable != NULL && variable->is_variable && variable->first == (uintptr_t)symbol ? variable : NULL;
}

static bool is_symbol(const void *symbol)
{
	return variable_at(symbol) != NULL || may_be_variable(symbol);
}

static void *place_in(const void *symbol, size_t offset)
{
	return (void *)((uintptr_t)symbol + offset);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_symbol(symbol), cudaErrorInvalidSymbol);
	RETURN_IF(kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault,
	          cudaErrorInvalidMemcpyDirection);
	if (kind == cudaMemcpyDefault)
		kind = sim_memory_is_device((uintptr_t)from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
	return copy("cudaMemcpyToSymbol", place_in(symbol, offset), from, bytes, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)stream;
	return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_symbol(symbol), cudaErrorInvalidSymbol);
	RETURN_IF(kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault,
	          cudaErrorInvalidMemcpyDirection);
	if (kind == cudaMemcpyDefault)
		kind = sim_memory_is_device((uintptr_t)to) ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
	return copy("cudaMemcpyFromSymbol", to, place_in(symbol, offset), bytes, kind);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)stream;
	return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
	RETURN_IF_STICKY();
	RETURN_IF(pointer == NULL, cudaErrorInvalidValue);
	RETURN_IF(!is_symbol(symbol), cudaErrorInvalidSymbol);
	*pointer = place_in(symbol, 0);
	return sim_return(cudaSuccess);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
	RETURN_IF_STICKY();
	RETURN_IF(size == NULL, cudaErrorInvalidValue);
	RETURN_IF(!is_symbol(symbol), cudaErrorInvalidSymbol);
	if (variable_at(symbol) != NULL) /* else the C++ overload has set it */
		*size = variable_at(symbol)->size;
	return sim_return(cudaSuccess);
}

/* ---- streams: any stream is idle, because nothing is ever left running ---- */

enum { STREAM_MAGIC = 0x73747265, EVENT_MAGIC = 0x6576656e };

struct CUstream_st {
	unsigned magic;
};

struct CUevent_st {
	unsigned magic;
	bool timed, recorded;
	struct timespec time;
};

static bool is_stream(cudaStream_t stream)
{
	return stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
	       stream->magic == STREAM_MAGIC;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
	(void)priority;
	RETURN_IF_STICKY();
	RETURN_IF(stream == NULL || flags > cudaStreamNonBlocking, cudaErrorInvalidValue);
	RETURN_IF((*stream = malloc(sizeof **stream)) == NULL, cudaErrorMemoryAllocation);
	(*stream)->magic = STREAM_MAGIC;
	return sim_return(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread || !is_stream(stream),
	          cudaErrorInvalidResourceHandle);
	stream->magic = 0;
	free(stream);
	return sim_return(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	RETURN_IF_STICKY();
	return sim_return(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	return cudaStreamSynchronize(stream);
}

static bool is_event(cudaEvent_t event)
{
	return event != NULL && event->magic == EVENT_MAGIC;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	(void)flags;
	RETURN_IF_STICKY();
	return sim_return(is_stream(stream) && is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
	RETURN_IF_STICKY();
	RETURN_IF(callback == NULL || flags != 0, cudaErrorInvalidValue);
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	callback(stream, cudaSuccess, data);
	return sim_return(cudaSuccess);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	RETURN_IF_STICKY();
	RETURN_IF(function == NULL, cudaErrorInvalidValue);
	RETURN_IF(!is_stream(stream), cudaErrorInvalidResourceHandle);
	function(data);
	return sim_return(cudaSuccess);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	RETURN_IF_STICKY();
	RETURN_IF(event == NULL || flags > 7, cudaErrorInvalidValue);
	RETURN_IF((*event = calloc(1, sizeof **event)) == NULL, cudaErrorMemoryAllocation);
	(*event)->magic = EVENT_MAGIC;
	(*event)->timed = (flags & cudaEventDisableTiming) == 0;
	return sim_return(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_event(event), cudaErrorInvalidResourceHandle);
	event->magic = 0;
	free(event);
	return sim_return(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	RETURN_IF_STICKY();
	RETURN_IF(!is_event(event) || !is_stream(stream), cudaErrorInvalidResourceHandle);
	event->recorded = true;
	clock_gettime(CLOCK_MONOTONIC, &event->time);
	return sim_return(cudaSuccess);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	(void)flags;
	return cudaEventRecord(event, stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	RETURN_IF_STICKY();
	return sim_return(is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	RETURN_IF_STICKY();
	RETURN_IF(milliseconds == NULL, cudaErrorInvalidValue);
	RETURN_IF(!is_event(start) || !is_event(end) || !start->timed || !end->timed || !start->recorded ||
	                  !end->recorded,
	          cudaErrorInvalidResourceHandle);
	*milliseconds = (float)((double)(end->time.tv_sec - start->time.tv_sec) * 1e3 +
	                        (double)(end->time.tv_nsec - start->time.tv_nsec) * 1e-6);
	return sim_return(cudaSuccess);
}

/* ---- kernels ---- */

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

cudaError_t cudaDeviceReset(void)
{
	sim_memory_reset();
	sim_clear_errors();
	return sim_return(cudaSuccess);
}
