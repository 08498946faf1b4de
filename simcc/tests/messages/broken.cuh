// The frame around broken kernels: runs the case named on the command line, prints what the CUDA API says then, goes
// on, resets the device and uses it again. Built with -DFIXED, the same kernels are right.
//
// In these files `//! case NAME key=value ...` says what must be reported (test_messages.py), and `// BUG NAME` marks
// the line.

// Before the guard: a file is read once with its bugs and once without, in one compilation.
#undef WRONG
#ifdef FIXED
#define WRONG(wrong, right) (right)
#else
#define WRONG(wrong, right) (wrong)
#endif

#ifndef BROKEN_CUH
#define BROKEN_CUH

#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

struct broken_case {
	const char *name;
	void (*run)();
};

template <typename T>
T *device_zeros(size_t count)
{
	T *device;
	if (cudaMalloc(&device, count * sizeof(T)) != cudaSuccess ||
	    cudaMemset(device, 0, count * sizeof(T)) != cudaSuccess)
		printf("no memory\n");
	return device;
}

static __global__ void healthy(int *y)
{
	y[threadIdx.x] = threadIdx.x;
}

// Every call that a fault of a kernel stays for, until the reset.
static float *allocated;
static float on_host[8] = {1}, registered[8];
static int callbacks;
static cudaStream_t stream;
static cudaEvent_t event, earlier;
static __device__ float symbol[8];

struct call {
	const char *name;
	cudaError_t (*make)();
};

#define CALL(...)                                                                                                    \
	{                                                                                                            \
#__VA_ARGS__, [] { return __VA_ARGS__; }                                                             \
	}

static void count_call(void *)
{
	callbacks++;
}
static void count_callback(cudaStream_t, cudaError_t, void *)
{
	callbacks++;
}

static void prepare_calls()
{
	cudaGetSymbolAddress((void **)&allocated, symbol); // no allocation: cases name theirs by their numbers
	cudaHostRegister(registered, sizeof registered, 0);
	cudaStreamCreate(&stream);
	cudaEventCreate(&event);
	cudaEventCreate(&earlier);
	cudaEventRecord(earlier);
	cudaEventRecord(event);
}

static void say_calls(cudaError_t fault)
{
	static void *pointer;
	static size_t size, other_size;
	static int blocks;
	static float ms;
	static cudaStream_t new_stream;
	static cudaEvent_t new_event;
	static cudaFuncCache cache = cudaFuncCachePreferL1;
	static cudaFuncAttributes of_kernel;
	static cudaPointerAttributes of_pointer;
	static void *arguments[] = {&allocated};
	static const call calls[] = {
		CALL(cudaSetDevice(0)),
		CALL(cudaDeviceSynchronize()),
		CALL(cudaDeviceSetLimit(cudaLimitStackSize, 2048)),
		CALL(cudaDeviceGetLimit(&size, cudaLimitStackSize)),
		CALL(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1)),
		CALL(cudaDeviceGetCacheConfig(&cache)),
		CALL(cudaProfilerStart()),
		CALL(cudaProfilerStop()),
		CALL(cudaLaunchKernel((const void *)healthy, dim3(1), dim3(8), arguments, 0, NULL)),
		CALL((healthy<<<1, 8>>>((int *)allocated), cudaGetLastError())),
		CALL(cudaFuncSetAttribute((const void *)healthy, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024)),
		CALL(cudaFuncGetAttributes(&of_kernel, (const void *)healthy)),
		CALL(cudaFuncSetCacheConfig((const void *)healthy, cudaFuncCachePreferL1)),
		CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)healthy, 32, 0)),
		CALL(cudaMalloc(&pointer, 16)),
		CALL(cudaMallocAsync(&pointer, 16, NULL)),
		CALL(cudaMallocPitch(&pointer, &size, 16, 2)),
		CALL(cudaHostAlloc(&pointer, 16, 0)),
		CALL(cudaHostRegister(on_host, sizeof on_host, 0)),
		CALL(cudaHostUnregister(registered)),
		CALL(cudaMemGetInfo(&size, &other_size)),
		CALL(cudaPointerGetAttributes(&of_pointer, allocated)),
		CALL(cudaMemcpy(allocated, on_host + 1, 4, cudaMemcpyHostToDevice)),
		CALL(cudaMemcpyAsync(on_host, allocated, 4, cudaMemcpyDeviceToHost)),
		CALL(cudaMemset(allocated, 1, 4)),
		CALL(cudaMemcpy2D(allocated, 4, on_host, 4, 4, 2, cudaMemcpyHostToDevice)),
		CALL(cudaMemset2D(allocated, 4, 1, 4, 2)),
		CALL(cudaMemcpyToSymbol(symbol, on_host, 4)),
		CALL(cudaMemcpyFromSymbol(on_host, symbol, 4)),
		CALL(cudaMemcpyToSymbol(symbol, on_host, 4, 0, cudaMemcpyDeviceToHost)),
		CALL(cudaMemcpyFromSymbol(on_host, symbol, 4, 0, cudaMemcpyHostToDevice)),
		CALL(cudaGetSymbolAddress(&pointer, symbol)),
		CALL(cudaGetSymbolSize(&size, symbol)),
		CALL(cudaStreamCreate(&new_stream)),
		CALL(cudaStreamSynchronize(stream)),
		CALL(cudaStreamWaitEvent(stream, event, 0)),
		CALL(cudaStreamAddCallback(stream, count_callback, NULL, 0)),
		CALL(cudaLaunchHostFunc(stream, count_call, NULL)),
		CALL(cudaEventCreate(&new_event)),
		CALL(cudaEventRecord(event, stream)),
		CALL(cudaEventSynchronize(event)),
		CALL(cudaEventQuery(event)),
		CALL(cudaEventElapsedTime(&ms, earlier, event)),
		CALL(cudaEventDestroy(event)),
		CALL(cudaStreamDestroy(stream)),
		CALL(cudaFreeAsync(allocated, NULL)),
		CALL(cudaFree(allocated)),
	};
	printf("other calls:");
	for (const call &one : calls)
		if (one.make() != fault)
			printf(" %s", one.name);
	// Nor do they do anything.
	if (pointer || size != 0 || other_size != 0 || blocks != 0 || ms != 0 || new_stream || new_event ||
	    cache != cudaFuncCachePreferL1 || of_kernel.maxThreadsPerBlock != 0 || of_pointer.devicePointer ||
	    on_host[0] != 1 || callbacks != 0)
		printf(" something was done");
	printf("\n");
}

static bool is_as_before()
{
	size_t stack = 0;
	float values[8] = {1};
	cudaFuncAttributes of;
	return cudaHostUnregister(registered) == cudaSuccess && cudaHostUnregister(on_host) != cudaSuccess &&
	       cudaEventDestroy(event) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess &&
	       cudaDeviceGetLimit(&stack, cudaLimitStackSize) == cudaSuccess && stack == 1024 &&
	       cudaFuncGetAttributes(&of, (const void *)healthy) == cudaSuccess &&
	       of.maxDynamicSharedSizeBytes == 49152 &&
	       cudaMemcpyFromSymbol(values, symbol, sizeof values) == cudaSuccess && values[0] == 0 && values[1] == 0;
}

static int run_case(const broken_case *cases, size_t count, const char *name)
{
	int y[32] = {0}, *dy = NULL;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(cases[i].name, name) != 0)
			continue;
		prepare_calls();
		cases[i].run();
		printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));
		const cudaError_t waits = cudaDeviceSynchronize();
		printf("waits: %s\n", cudaGetErrorName(waits));
		if (waits != cudaSuccess)
			say_calls(waits);
		printf("call after it: %s\n", cudaGetErrorName(cudaMalloc(&dy, sizeof y)));
		printf("reset: %s\n", cudaGetErrorName(cudaDeviceReset()));
		if (!is_as_before())
			printf("not what was there before\n");
		cudaGetLastError();
		printf("after reset: %s\n", cudaGetErrorName(cudaMalloc(&dy, sizeof y)));
		healthy<<<1, 32>>>(dy);
		cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
		printf("%s\n", y[31] == 31 && cudaGetLastError() == cudaSuccess ? "works again" : "does not work");
		return 0;
	}
	printf("no case %s\n", name);
	return 3;
}

#define CASES(...)                                                                                                   \
	int main(int argc, char **argv)                                                                              \
	{                                                                                                            \
		static const broken_case cases[] = {__VA_ARGS__};                                                    \
		return argc == 2 ? run_case(cases, sizeof cases / sizeof cases[0], argv[1]) : 3;                     \
	}

#endif
