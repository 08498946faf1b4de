// Each error of the runtime API that nothing is printed about: what the call returns, that cudaGetLastError has it once,
// and that the call beside it that is right succeeds.
//! not fast: plain builds know neither kernels nor variables by their address
#include "check.cuh"

#include <cstring>
#include <ctime>

// The last error is looked at, taken, and gone.
#define FAILS(error, call)                                                                                           \
	EXPECT((call) == (error) && cudaPeekAtLastError() == (error) && cudaGetLastError() == (error) &&             \
	       cudaGetLastError() == cudaSuccess)
#define INVALID(call) FAILS(cudaErrorInvalidValue, call)

__device__ int variable[4];
static int host_variable[4];

__global__ void set_variable()
{
	variable[threadIdx.x] = threadIdx.x;
}

static void of_the_device()
{
	int value = -1;
	unsigned flags = 0;
	size_t size = 0;
	cudaDeviceProp properties;
	cudaFuncCache config;
	INVALID(cudaGetDeviceCount(NULL));
	INVALID(cudaGetDevice(NULL));
	FAILS(cudaErrorInvalidDevice, cudaSetDevice(1));
	FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
	FAILS(cudaErrorInvalidDevice, cudaInitDevice(1, 0, 0));
	INVALID(cudaGetDeviceFlags(NULL));
	CHECK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
	CHECK(cudaGetDeviceFlags(&flags));
	EXPECT(flags == cudaDeviceScheduleYield);
	INVALID(cudaGetDeviceProperties(NULL, 0));
	FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 1));
	CHECK(cudaGetDeviceProperties(&properties, 0));
	EXPECT(properties.globalL1CacheSupported == 1 && properties.localL1CacheSupported == 1);
	EXPECT(properties.singleToDoublePrecisionPerfRatio == 2);
	INVALID(cudaChooseDevice(&value, NULL));
	INVALID(cudaChooseDevice(NULL, &properties));
	INVALID(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
	INVALID(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0));
	FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1));
	FAILS(cudaErrorUnsupportedLimit, cudaDeviceSetLimit((cudaLimit)99, 1));
	FAILS(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&size, (cudaLimit)99));
	INVALID(cudaDeviceGetLimit(NULL, cudaLimitStackSize));
	const size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
	for (int i = 0; i < 7; i++) {
		CHECK(cudaDeviceGetLimit(&size, (cudaLimit)i));
		EXPECT(size == limits[i]);
	}
	FAILS(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&size, (cudaLimit)7));
	FAILS(cudaErrorUnsupportedLimit, cudaDeviceSetLimit((cudaLimit)7, 1));
	CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
	CHECK(cudaDeviceGetLimit(&size, cudaLimitStackSize));
	EXPECT(size == 4096);
	INVALID(cudaDeviceGetCacheConfig(NULL));
	CHECK(cudaDeviceGetCacheConfig(&config));
	INVALID(cudaDeviceCanAccessPeer(NULL, 0, 0));
	CHECK(cudaDeviceCanAccessPeer(&value, 0, 0));
	EXPECT(value == 0);
	FAILS(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&value, 1, 0));
	FAILS(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&value, 0, 1));
	INVALID(cudaDriverGetVersion(NULL));
	INVALID(cudaRuntimeGetVersion(NULL));
}

static void of_kernels()
{
	const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
	const cudaFuncAttribute carveout = cudaFuncAttributePreferredSharedMemoryCarveout;
	const cudaError_t no_kernel = cudaErrorInvalidDeviceFunction;
	const void *kernel = (const void *)set_variable;
	cudaFuncAttributes attributes;
	int blocks;
	FAILS(no_kernel, cudaFuncSetAttribute(host_variable, most, 0));
	FAILS(no_kernel, cudaFuncSetAttribute((const void *)NULL, most, 0));
	INVALID(cudaFuncSetAttribute(kernel, most, -1));
	CHECK(cudaFuncSetAttribute(kernel, most, 0));
	CHECK(cudaFuncGetAttributes(&attributes, kernel));
	EXPECT(attributes.maxDynamicSharedSizeBytes == 0);
	CHECK(cudaFuncSetAttribute(kernel, most, 49152));
	INVALID(cudaFuncSetAttribute(kernel, carveout, -2));
	INVALID(cudaFuncSetAttribute(kernel, carveout, 101));
	INVALID(cudaFuncSetAttribute(kernel, (cudaFuncAttribute)99, 0));
	CHECK(cudaFuncSetAttribute(kernel, carveout, -1));
	CHECK(cudaFuncSetAttribute(kernel, carveout, 100));
	INVALID(cudaFuncGetAttributes(NULL, kernel));
	CHECK(cudaFuncGetAttributes(&attributes, kernel));
	EXPECT(attributes.sharedSizeBytes == 0 && attributes.maxThreadsPerBlock == 1024);
	EXPECT(attributes.ptxVersion == 90 && attributes.binaryVersion == 90);
	EXPECT(attributes.maxDynamicSharedSizeBytes == 49152 && attributes.preferredShmemCarveout == -1);
	FAILS(no_kernel, cudaFuncGetAttributes(&attributes, host_variable));
	FAILS(no_kernel, cudaFuncSetCacheConfig(host_variable, cudaFuncCachePreferL1));
	CHECK(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1));
	INVALID(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, kernel, 32, 0));
	INVALID(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0));
	FAILS(no_kernel, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, host_variable, 32, 0, 0));
}

static void of_occupancy()
{
	const void *kernel = (const void *)set_variable;
	int blocks = -1;
	cudaDeviceProp of;
	CHECK(cudaGetDeviceProperties(&of, 0));
	const int per_sm = (int)of.sharedMemPerMultiprocessor, reserved = (int)of.reservedSharedMemPerBlock;
	// 33 threads take two warps, and a block takes the system's 1 KB and units of 128 bytes of shared memory.
	for (int threads : {1, 32, 33, 64, 65, 1000, 1024, 1025}) {
		const int fit = threads > 1024 ? 0 : of.maxThreadsPerMultiProcessor / ((threads + 31) / 32 * 32);
		CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
		EXPECT(blocks == (fit < of.maxBlocksPerMultiProcessor ? fit : of.maxBlocksPerMultiProcessor));
	}
	for (int bytes : {per_sm / 8 - reserved, per_sm / 8 - reserved + 1, 49152, 49153}) {
		const int taken = (bytes + reserved + 127) / 128 * 128;
		CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, (size_t)bytes));
		EXPECT(blocks == (bytes > 49152 ? 0 : per_sm / taken));
	}
}

static void of_host_memory()
{
	static char page[4096];
	void *p = page, *q;
	cudaPointerAttributes of;
	INVALID(cudaMallocHost(NULL, 16));
	FAILS(cudaErrorMemoryAllocation, cudaMallocHost(&p, (size_t)1 << 62));
	EXPECT(p == NULL);
	CHECK(cudaMallocHost(&q, 0));
	EXPECT(q == NULL);
	INVALID(cudaHostRegister(NULL, 16, 0));
	INVALID(cudaHostRegister(page, 0, 0));
	FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(page));
	CHECK(cudaHostRegister(page, sizeof page, 0));
	FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(page, sizeof page, 0));
	FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(page + 4095, 1, 0));
	FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(page + 1));
	CHECK(cudaPointerGetAttributes(&of, page + 4095));
	EXPECT(of.type == cudaMemoryTypeHost && of.hostPointer == page + 4095);
	CHECK(cudaHostUnregister(page));
	FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(page));
	CHECK(cudaPointerGetAttributes(&of, page));
	EXPECT(of.type == cudaMemoryTypeUnregistered);
	CHECK(cudaMallocHost(&p, 16)); // allocated is not registered
	FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(p));
	CHECK(cudaFreeHost(p));
}

static void of_device_memory()
{
	char *p, *more;
	size_t pitch = 0, before, after, total;
	cudaPointerAttributes of;
	INVALID(cudaMalloc((void **)NULL, 16));
	CHECK(cudaMemGetInfo(&before, &total));
	FAILS(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
	EXPECT(p == NULL);
	p = (char *)&total;
	CHECK(cudaMalloc(&p, 0));
	EXPECT(p == NULL);
	CHECK(cudaMalloc(&p, (size_t)1 << 20));
	CHECK(cudaMemGetInfo(&after, &total));
	EXPECT(before - after == (size_t)1 << 20);
	FAILS(cudaErrorMemoryAllocation, cudaMalloc(&more, after + 1)); // of what is free, not of all
	CHECK(cudaPointerGetAttributes(&of, p + 5));
	EXPECT(of.type == cudaMemoryTypeDevice && of.devicePointer == p + 5 && of.hostPointer == NULL);
	CHECK(cudaFree(p));
	CHECK(cudaPointerGetAttributes(&of, p));
	EXPECT(of.type == cudaMemoryTypeUnregistered);
	CHECK(cudaMemGetInfo(&after, &total));
	EXPECT(before == after);
	CHECK(cudaMalloc(&p, before)); // all there is
	CHECK(cudaMemGetInfo(&after, &total));
	EXPECT(after == 0);
	CHECK(cudaFree(p));
	INVALID(cudaMemGetInfo(NULL, &total));
	INVALID(cudaMemGetInfo(&before, NULL));
	INVALID(cudaPointerGetAttributes(NULL, p));
	INVALID(cudaMallocPitch((void **)&p, NULL, 4, 4));
	INVALID(cudaMallocPitch((void **)&p, &pitch, SIZE_MAX, 4));
	FAILS(cudaErrorMemoryAllocation, cudaMallocPitch((void **)&p, &pitch, 512, SIZE_MAX / 256));
	for (size_t width : {1, 511, 512, 513}) {
		CHECK(cudaMallocPitch((void **)&p, &pitch, width, 3));
		EXPECT(pitch == (width > 512 ? 1024 : 512));
		CHECK(cudaFree(p));
	}
}

static void of_copies()
{
	char host[64] = {0}, *p = device_zeros<char>(40);
	const cudaMemcpyKind up = cudaMemcpyHostToDevice, down = cudaMemcpyDeviceToHost;
	FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(p, 7, host, 8, 8, 2, up));
	FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(p, 8, host, 7, 8, 2, up));
	FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(p, SIZE_MAX / 2, host, 8, 8, 4, up));
	FAILS(cudaErrorInvalidPitchValue, cudaMemset2D(p, 7, 0, 8, 2));
	CHECK(cudaMemcpy2D(p, 16, host, 8, 8, 3, up)); // its last row ends with the allocation: 2 * 16 + 8
	CHECK(cudaMemset2D(p, 16, 0, 8, 3));
	// Kills: a side that cudaMemcpyDefault takes for the other.
	const char text[] = "abcdefgh";
	char *q = device_zeros<char>(8), *symbol;
	CHECK(cudaGetSymbolAddress((void **)&symbol, variable));
	CHECK(cudaMemcpy(p, text, 8, cudaMemcpyDefault));
	CHECK(cudaMemcpy(q, p, 8, cudaMemcpyDefault));
	CHECK(cudaMemcpy(host, text + 4, 4, cudaMemcpyDefault));
	CHECK(cudaMemcpy(host + 4, q, 4, cudaMemcpyDefault));
	EXPECT(memcmp(host, "efghabcd", 8) == 0);
	CHECK(cudaMemcpyFromSymbol(q, variable, 8, 8, cudaMemcpyDefault));
	CHECK(cudaMemcpyFromSymbol(host, variable, 8, 8, cudaMemcpyDefault));
	CHECK(cudaMemcpyToSymbol(variable, text, 4, 0, cudaMemcpyDefault));
	CHECK(cudaMemcpyToSymbol(variable, q, 4, 4, cudaMemcpyDefault));
	CHECK(cudaMemcpy(host + 8, symbol, 8, cudaMemcpyDefault));
	EXPECT(memcmp(host, "\2\0\0\0\3\0\0\0abcd\2\0\0\0", 16) == 0);
	CHECK(cudaFree(q));
	CHECK(cudaFree(p));

	int values[4] = {0, 0, 0, 0};
	size_t size = 0;
	void *address;
	FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(host_variable, values, sizeof values));
	FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(variable[1], values, sizeof values[0]));
	FAILS(cudaErrorInvalidSymbol, cudaMemcpyFromSymbol(values, host_variable, sizeof values));
	FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, host_variable));
	INVALID(cudaGetSymbolAddress((void **)NULL, variable));
	FAILS(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, host_variable));
	INVALID(cudaGetSymbolSize((size_t *)NULL, variable));
	CHECK(cudaMemcpyFromSymbol(values, variable, 2 * sizeof(int), 2 * sizeof(int), down));
	EXPECT(values[0] == 2 && values[1] == 3);
}

static double between(const timespec &first, const timespec &last)
{
	return 1e3 * (last.tv_sec - first.tv_sec) + 1e-6 * (last.tv_nsec - first.tv_nsec);
}

static void of_streams_and_events()
{
	const cudaError_t no_handle = cudaErrorInvalidResourceHandle;
	const cudaStream_t standard[] = {0, cudaStreamLegacy, cudaStreamPerThread};
	int *x;
	cudaStream_t stream, gone, wrong = (cudaStream_t)0x7f7f; // kills: a handle that is looked into
	cudaEvent_t event, untimed, unrecorded, no_event = (cudaEvent_t)0x7f7f;
	float milliseconds = -1;
	INVALID(cudaStreamCreate(NULL));
	INVALID(cudaStreamCreateWithFlags(&stream, 2));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (cudaStream_t each : standard)
		FAILS(no_handle, cudaStreamDestroy(each));
	FAILS(no_handle, cudaStreamDestroy(wrong));
	FAILS(no_handle, cudaStreamSynchronize(wrong));
	FAILS(no_handle, cudaStreamQuery(wrong));
	for (cudaStream_t each : standard)
		CHECK(cudaStreamSynchronize(each));
	CHECK(cudaStreamCreate(&gone));
	CHECK(cudaStreamDestroy(gone));
	for (cudaStream_t each : {wrong, gone}) { // kills: work that a stream takes which is none
		FAILS(no_handle, cudaMallocAsync(&x, 4, each));
		FAILS(no_handle, cudaMemsetAsync(NULL, 0, 0, each));
		FAILS(no_handle, cudaMemcpyAsync(NULL, NULL, 0, cudaMemcpyDefault, each));
		FAILS(no_handle, (set_variable<<<1, 1, 0, each>>>(), cudaPeekAtLastError()));
	}
	FAILS(no_handle, cudaStreamDestroy(gone));

	INVALID(cudaEventCreate(NULL));
	INVALID(cudaEventCreateWithFlags(&event, 8));
	CHECK(cudaEventCreate(&event));
	CHECK(cudaEventCreate(&unrecorded));
	CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
	FAILS(no_handle, cudaEventRecord(no_event, stream));
	FAILS(no_handle, cudaEventRecord(event, wrong));
	CHECK(cudaEventRecord(event, stream));
	CHECK(cudaEventRecordWithFlags(untimed, stream, 0));
	FAILS(no_handle, cudaStreamWaitEvent(stream, NULL, 0));
	FAILS(no_handle, cudaStreamWaitEvent(wrong, event, 0));
	FAILS(no_handle, cudaEventSynchronize(NULL));
	FAILS(no_handle, cudaEventQuery(no_event));
	INVALID(cudaEventElapsedTime(NULL, event, event));
	for (cudaEvent_t each : {untimed, unrecorded, no_event}) {
		FAILS(no_handle, cudaEventElapsedTime(&milliseconds, event, each));
		FAILS(no_handle, cudaEventElapsedTime(&milliseconds, each, event));
	}
	EXPECT(milliseconds == -1);
	CHECK(cudaEventElapsedTime(&milliseconds, event, event));
	EXPECT(milliseconds == 0);
	// Kills: a second that is another number of milliseconds. Its nanoseconds start again in between.
	cudaEvent_t later;
	timespec before, begun, ended, after;
	CHECK(cudaEventCreate(&later));
	clock_gettime(CLOCK_MONOTONIC, &before);
	CHECK(cudaEventRecord(event, stream));
	clock_gettime(CLOCK_MONOTONIC, &begun);
	const timespec next = {begun.tv_sec + 1, 0};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	CHECK(cudaEventRecord(later, stream));
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK(cudaEventElapsedTime(&milliseconds, event, later));
	EXPECT(milliseconds > between(begun, ended) - 0.01 && milliseconds < between(before, after) + 0.01);
	CHECK(cudaEventDestroy(later));

	int calls = 0;
	const cudaStreamCallback_t called = [](cudaStream_t, cudaError_t error, void *count) {
		*(int *)count += error == cudaSuccess;
	};
	INVALID(cudaStreamAddCallback(stream, NULL, &calls, 0));
	INVALID(cudaStreamAddCallback(stream, called, &calls, 1));
	FAILS(no_handle, cudaStreamAddCallback(wrong, called, &calls, 0));
	INVALID(cudaLaunchHostFunc(stream, NULL, &calls));
	FAILS(no_handle, cudaLaunchHostFunc(
				 wrong, [](void *count) { ++*(int *)count; }, &calls));
	EXPECT(calls == 0);
	CHECK(cudaStreamAddCallback(stream, called, &calls, 0));
	CHECK(cudaLaunchHostFunc(
		stream, [](void *count) { ++*(int *)count; }, &calls));
	EXPECT(calls == 2);
	FAILS(no_handle, cudaEventDestroy(NULL));
	FAILS(no_handle, cudaEventDestroy(no_event));
	for (cudaEvent_t each : {event, unrecorded, untimed})
		CHECK(cudaEventDestroy(each));
	CHECK(cudaStreamDestroy(stream));
}

int main()
{
	of_the_device();
	of_kernels();
	of_occupancy();
	of_host_memory();
	of_device_memory();
	//= set_variable store=16/1/1
	set_variable<<<1, 4>>>();
	of_copies();
	of_streams_and_events();
	FAILS(cudaErrorInvalidConfiguration, (set_variable<<<0, 1>>>(), cudaPeekAtLastError()));
	// A call that succeeds leaves an error that nobody has looked at.
	(void)cudaSetDevice(1);
	CHECK(cudaSetDevice(0));
	EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
	return 0;
}
