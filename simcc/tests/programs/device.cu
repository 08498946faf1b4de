// Questions about the device. (What it refuses: errors.cu, test_refusals.py.)
#include "check.cuh"

__global__ void nothing() {}
__global__ void needs_shared(float *y)
{
	__shared__ float tile[4096];
	tile[threadIdx.x] = y[threadIdx.x];
	__syncthreads();
	y[threadIdx.x] = tile[(unsigned)y[0] % 4096];
}

// Of an H100, by the tables of CUDA's programming guide for 9.0 and its data sheet.
static const struct {
	cudaDeviceAttr attribute;
	int value;
} known[] = {
	{cudaDevAttrMaxThreadsPerBlock, 1024},
	{cudaDevAttrMaxBlockDimX, 1024},
	{cudaDevAttrMaxBlockDimY, 1024},
	{cudaDevAttrMaxBlockDimZ, 64},
	{cudaDevAttrMaxGridDimX, 2147483647},
	{cudaDevAttrMaxGridDimY, 65535},
	{cudaDevAttrMaxGridDimZ, 65535},
	{cudaDevAttrMaxSharedMemoryPerBlock, 49152},
	{cudaDevAttrTotalConstantMemory, 65536},
	{cudaDevAttrWarpSize, 32},
	{cudaDevAttrMaxPitch, 2147483647},
	{cudaDevAttrMaxRegistersPerBlock, 65536},
	{cudaDevAttrClockRate, 1980000},
	{cudaDevAttrTextureAlignment, 512},
	{cudaDevAttrGpuOverlap, 1},
	{cudaDevAttrMultiProcessorCount, 132},
	{cudaDevAttrConcurrentKernels, 1},
	{cudaDevAttrPciBusId, 1},
	{cudaDevAttrMemoryClockRate, 2617187}, // kHz, twice a clock: 5120 bits make 3.35 TB/s
	{cudaDevAttrGlobalMemoryBusWidth, 5120},
	{cudaDevAttrL2CacheSize, 52428800},
	{cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
	{cudaDevAttrUnifiedAddressing, 1},
	{cudaDevAttrComputeCapabilityMajor, 9},
	{cudaDevAttrComputeCapabilityMinor, 0},
	{cudaDevAttrMaxSharedMemoryPerMultiprocessor, 233472},
	{cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
	{cudaDevAttrMaxSharedMemoryPerBlockOptin, 232448},
	{cudaDevAttrHostRegisterSupported, 1},
	{cudaDevAttrMaxBlocksPerMultiprocessor, 32},
	{cudaDevAttrReservedSharedMemoryPerBlock, 1024},
	{cudaDevAttrManagedMemory, 0},
	{cudaDevAttrCooperativeLaunch, 0},
	{cudaDevAttrClusterLaunch, 0},
};

int main()
{
	for (const auto &one : known) {
		int told = -1;
		CHECK(cudaDeviceGetAttribute(&told, one.attribute, 0));
		EXPECT(told == one.value);
	}
	int count = 0, device = -1, blocks = 0;
	cudaDeviceProp p;
	CHECK(cudaGetDeviceCount(&count));
	CHECK(cudaSetDevice(0));
	CHECK(cudaGetDevice(&device));
	EXPECT(count == 1 && device == 0);
	CHECK(cudaGetDeviceProperties(&p, 0));
	EXPECT(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 48 * 1024);
	EXPECT(p.textureAlignment == 512 && p.texturePitchAlignment == 32 && p.memPitch == 0x7fffffff);
	EXPECT(p.name[0] != 0 && p.multiProcessorCount > 0 && p.major >= 8 && p.totalGlobalMem > (size_t)1 << 30);

	int least = -1, greatest = -1, driver = -1, runtime = -1;
	enum cudaFuncCache cache = cudaFuncCachePreferL1;
	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	CHECK(cudaDeviceGetStreamPriorityRange(NULL, NULL));
	EXPECT(least == 0 && greatest == 0);
	CHECK(cudaDriverGetVersion(&driver));
	CHECK(cudaRuntimeGetVersion(&runtime));
	EXPECT(driver == CUDART_VERSION && runtime == CUDART_VERSION);
	CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared)); // a wish
	CHECK(cudaDeviceGetCacheConfig(&cache));
	EXPECT(cache == cudaFuncCachePreferNone);

	// of static shared memory, too
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, needs_shared, 32, 0));
	EXPECT(blocks >= 5 && blocks <= (int)(p.sharedMemPerMultiprocessor / 16384));

	nothing<<<1, dim3(1, 1, 65)>>>();
	EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
	// A refused launch is not the end: the next works.
	//= nothing grid=1,65535,1 block=1,1,1
	nothing<<<dim3(1, 65535), 1>>>();
	CHECK(cudaDeviceSynchronize());
	//= nothing block=1024,1,1 dyn=49152
	nothing<<<1, 1024, 48 * 1024>>>();
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(NULL));
	return 0;
}
