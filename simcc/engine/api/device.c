/* The CUDA runtime API: errors, and what the device is. */
#include "api/api.h"

cudaError_t cudaGetLastError(void)
{
	return sim_last_error(true);
}

cudaError_t cudaPeekAtLastError(void)
{
	return sim_last_error(false);
}

enum {
	CONSTANT_BYTES = 64 * 1024,
	DRIVER_VERSION = 13000,
	BUS_BITS = 5120, /* HBM; only its product with the memory clock means anything here */
};

static int memory_clock_khz(const struct gpu *gpu)
{
	return (int)(gpu->hbm_bytes_per_s / (2.0 * BUS_BITS / 8) / 1e3); /* two transfers a clock */
}

cudaError_t cudaGetDeviceCount(int *count)
{
	RETURN_IF(!count, cudaErrorInvalidValue);
	*count = 1;
	return sim_return(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device)
{
	RETURN_IF(!device, cudaErrorInvalidValue);
	*device = 0;
	return sim_return(cudaSuccess);
}

cudaError_t cudaSetDevice(int device)
{
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
	RETURN_IF(!flags, cudaErrorInvalidValue);
	*flags = device_flags;
	return sim_return(cudaSuccess);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *properties)
{
	RETURN_IF(!properties, cudaErrorInvalidValue);
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
		.maxThreadsPerBlock = MAX_THREADS,
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

	RETURN_IF(!properties, cudaErrorInvalidValue);
	RETURN_IF(device != 0, cudaErrorInvalidDevice);
	snprintf(p.name, sizeof p.name, "Simulated %s", gpu->title);
	*properties = p;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	struct cudaDeviceProp p;
	RETURN_IF(!value, cudaErrorInvalidValue);
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
	sim_wait_for_device();
	return sim_return(cudaSuccess);
}

static size_t limits[] = {
	[cudaLimitStackSize] = 1024,
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
	RETURN_IF(!value, cudaErrorInvalidValue);
	RETURN_IF((size_t)limit >= sizeof limits / sizeof *limits, cudaErrorUnsupportedLimit);
	*value = limits[limit];
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	(void)config;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	RETURN_IF_STICKY();
	RETURN_IF(!config, cudaErrorInvalidValue);
	*config = cudaFuncCachePreferNone;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	RETURN_IF(!can, cudaErrorInvalidValue);
	RETURN_IF(device != 0 || peer != 0, cudaErrorInvalidDevice);
	*can = 0;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = 0;
	return sim_return(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version)
{
	RETURN_IF(!version, cudaErrorInvalidValue);
	*version = DRIVER_VERSION;
	return sim_return(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	RETURN_IF(!version, cudaErrorInvalidValue);
	*version = CUDART_VERSION;
	return sim_return(cudaSuccess);
}

cudaError_t cudaProfilerStart(void)
{
	return sim_return(cudaSuccess);
}

cudaError_t cudaProfilerStop(void)
{
	return sim_return(cudaSuccess);
}

cudaError_t cudaDeviceReset(void)
{
	sim_memory_reset();
	sim_clear_errors();
	return sim_return(cudaSuccess);
}
