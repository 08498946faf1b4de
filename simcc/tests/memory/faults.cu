// Kernels that end badly, each in its own way, and what the host hears of it: faults KIND [CALL]. As on a GPU a fault is
// heard of where the host next waits for the device, which is at CALL; from then on every call returns it and does nothing
// else; and after a reset the device works again. `//= KIND error hazard thread`, and a pattern: what must be reported;
// `// KIND` marks the line that must be named (test_memory.py).
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__device__ float values[8];

//= stray IllegalAddress out_of_bounds 5,0,0 Invalid __global__ write of size 4 bytes .* bytes after the nearest allocation
__global__ void stray(int *y)
{
	if (blockIdx.x == 1 && threadIdx.x == 5)
		y[1 << 28] = 1; // stray
}

// Not aligned, and past the end: a GPU looks at the first.
//= misaligned MisalignedAddress misaligned 0,0,0 Invalid __global__ write of size 16 bytes .* 20 bytes into 'values'
__global__ void misaligned(int *)
{
	float *place = values + 5;
	*(float4 *)place = float4{1, 2, 3, 4}; // misaligned
}

__device__ void add(unsigned long long *y)
{
	atomicAdd(y, 1ull); // atomic
}

//= atomic IllegalAddress out_of_bounds 0,0,0 Invalid __global__ atomic of size 8 bytes .* its last bytes lie past the end of
__global__ void atomic(int *y)
{
	add((unsigned long long *)(y + 32)); // of 33 elements
}

// The first byte behind an array is no part of it, aligned or not.
//= ragged IllegalAddress out_of_bounds 0,0,0 and is 30 bytes after the start of 'bytes' of size 30 bytes
__global__ void ragged(int *y)
{
	alignas(8) __shared__ char bytes[30];
	*(int *)(bytes + 30 + y[0]) = 1; // ragged
}

//= last_bytes IllegalAddress out_of_bounds 0,0,0 and its last bytes lie past the end of 'bytes' of size 30 bytes
__global__ void last_bytes(int *y)
{
	alignas(8) __shared__ char bytes[30];
	*(int *)(bytes + 28 + y[0]) = 1; // last_bytes
}

//= quotient LaunchFailure division_by_zero 5,0,0 or of the smallest integer by -1
__global__ void quotient(int *y)
{
	const int smallest = -2147483647 - (threadIdx.x >= 5);
	y[threadIdx.x] = smallest / (y[32] - 1); // quotient
}

//= trap IllegalInstruction trap 3,0,0 Illegal instruction, or __trap
// The half that waits for the trapped thread might still store as the others did: a request that is not whole yet.
__global__ void trap(int *y)
{
	if (threadIdx.x < 16) {
		y[threadIdx.x] = 1;
		__syncwarp(0xffff);
	} else {
		__syncwarp(0xffff0008);
	}
	if (threadIdx.x == 3)
		__builtin_trap(); // trap
}

//= assert Assert assert 7,0,0 thread: \[7,0,0\] Assertion `.*` failed
__global__ void fails(int *y)
{
	assert((int)threadIdx.x < y[0] + 7); // assert
}

//= arms LaunchFailure divergent_barrier 0,0,0 Barrier error detected
__global__ void arms(int *y)
{
	if (threadIdx.x % 2)
		__syncthreads();
	else
		y[threadIdx.x / 2] = 1, __syncthreads(); // arms
}

// Nothing is read or written, and nobody waits for long.
//= steps LaunchTimeout endless_loop \d+,0,0 no thread has ended or passed a barrier .SIM_TIMEOUT sets the
__global__ void steps(int *)
{
	int nothing = 0;
	while (__any_sync(0xffffffff, nothing == 0)) // steps
		;
}

// Of two workers the second is interrupted one look after the first has ended its block: that is no barrier it has passed.
//= apart LaunchTimeout endless_loop 0,0,0 no thread has ended or passed a barrier .SIM_TIMEOUT, 0.2 s
__global__ void apart(int *y)
{
	volatile int nothing = 0;
	while (blockIdx.x == 1 && nothing == 0)
		;
	while (*(volatile int *)y == 0) // apart
		;
}

__device__ int *shared_by_all()
{
	__shared__ int all[32];
	return all;
}

// Of what is under way when the block ends nothing arrives in a later one: healthy() waits in vain.
//= copied IllegalAddress out_of_bounds 31,0,0 Invalid __global__ write of size 4 bytes
__global__ void copied(int *y)
{
	if (threadIdx.x == 31) {
		__pipeline_memcpy_async(&shared_by_all()[31], y, 4);
		y[1 << 28] = 1; // copied
	}
}

__device__ void fill(long *row, int n)
{
	for (int i = 0; i < n; i++)
		row[i] = i; // overrun
}

//= overrun IllegalAddress local_overrun 0,0,0 Invalid __local__ write of size 8 bytes .* a local array was overrun
__global__ void overrun(int *y)
{
	long row[3];
	fill(row, 60 + y[0]);
	y[threadIdx.x] = row[1];
}

// What begins in an array and ends past it is named where it writes, not where its function ends.
//= cleared IllegalAddress local_overrun 0,0,0 Invalid __local__ write of size 4 bytes .* a local array was overrun
__global__ void cleared(int *y)
{
	int row[3];
	memset(row, y[0], 400); // cleared
	y[threadIdx.x] = row[1];
}

// Also where the compiler knows that it begins in it, and that it is not longer.
//= second_half IllegalAddress local_overrun 0,0,0 Invalid __local__ write of size \d+ bytes .* a local array was overrun
__global__ void second_half(int *y)
{
	int row[64];
	__builtin_memset(row + 32, 1, sizeof row); // second_half
	y[threadIdx.x] = row[y[0] + 40];
}

// One ends within what is kept for the engine, the others below the stack, far below it in the end.
//= large249 IllegalAddress stack_overflow 0,0,0 local variables of void large<63500>.* need 249 KB; a thread
//= large313 IllegalAddress stack_overflow 0,0,0 local variables of void large<80000>.* need 313 KB; a thread
//= large1025 IllegalAddress stack_overflow 0,0,0 local variables of void large<262144>.* need 1025 KB; a thread
template <int COUNT>
__global__ void large(int *y) // large
{
	volatile int mine[COUNT];
	for (int i = 0; i < 1024; i++)
		mine[i] = i;
	y[threadIdx.x] = mine[1023];
}

__device__ __noinline__ int with_array(int n, volatile int *y)
{
	volatile int mine[15600];
	mine[n] = y[0] = n;
	return n == 0 ? 0 : mine[n] + with_array(n - 1, y); // together
}

//= together IllegalAddress stack_overflow 0,0,0 large local arrays, or an endless recursion
__global__ void together(int *y)
{
	y[threadIdx.x] = with_array(5, y + 32);
}

static const struct {
	const char *name;
	void (*kernel)(int *);
	int blocks, threads;
} kinds[] = {
	{"stray", stray, 2, 32},
	{"misaligned", misaligned, 1, 1},
	{"atomic", atomic, 1, 1},
	{"ragged", ragged, 1, 1},
	{"last_bytes", last_bytes, 1, 1},
	{"quotient", quotient, 1, 32},
	{"trap", trap, 1, 32},
	{"assert", fails, 1, 8},
	{"arms", arms, 1, 64},
	{"steps", steps, 1, 32},
	{"apart", apart, 2, 1},
	{"copied", copied, 1, 32},
	{"overrun", overrun, 1, 8},
	{"cleared", cleared, 1, 8},
	{"second_half", second_half, 1, 8},
	{"large249", large<63500>, 1, 1},
	{"large313", large<80000>, 1, 1},
	{"large1025", large<1 << 18>, 1, 1},
	{"together", together, 1, 1},
};

__global__ void healthy(int *y)
{
	int *mine = shared_by_all();
	mine[threadIdx.x] = threadIdx.x;
	__pipeline_commit();
	__pipeline_wait_prior(0);
	y[threadIdx.x] = mine[threadIdx.x];
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

static void prepare()
{
	cudaMalloc(&allocated, sizeof on_host);
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
	       of.maxDynamicSharedSizeBytes == 49152 - sizeof(int[32]) &&
	       cudaMemcpyFromSymbol(values, symbol, sizeof values) == cudaSuccess && values[0] == 0 && values[1] == 0;
}

static cudaError_t wait_at(int call)
{
	switch (call) {
	case 0: return cudaDeviceSynchronize();
	case 1: return cudaMemcpy(on_host, allocated, sizeof on_host, cudaMemcpyDeviceToHost);
	case 2: return cudaStreamSynchronize(stream);
	case 3: return cudaEventSynchronize(event);
	case 4: return cudaFree(allocated);
	case 5: return cudaMalloc(&allocated, 4);
	case 6: return cudaMemset(allocated, 0, 4);
	case 7: return cudaStreamQuery(stream);
	}
	float ms;
	return cudaEventElapsedTime(&ms, earlier, event);
}

static void say(const char *what, cudaError_t error)
{
	printf("%s: %s\n", what, cudaGetErrorName(error));
}

int main(int argc, char **argv)
{
	int y[33] = {0}, *dy;
	cudaMalloc(&dy, sizeof y);
	cudaMemset(dy, 0, sizeof y);
	prepare();
	for (const auto &kind : kinds)
		if (strcmp(kind.name, argv[1]) == 0)
			kind.kernel<<<kind.blocks, kind.threads, 0, stream>>>(dy);
	say("peek", cudaPeekAtLastError());
	say("get", cudaGetLastError());
	healthy<<<1, 32, 0, stream>>>(dy); // never runs
	healthy<<<1, 2000>>>(dy);
	say("refused", cudaGetLastError());
	say("record", cudaEventRecord(event, stream));
	y[31] = 9;
	say("copy", cudaMemcpyAsync(y, dy, sizeof y, cudaMemcpyDeviceToHost, stream));
	if (y[31] != 9)
		printf("copied\n");
	cudaLaunchHostFunc(stream, count_call, NULL);
	say("get again", cudaGetLastError());
	const cudaError_t error = wait_at(argc > 2 ? atoi(argv[2]) : 0);
	say("waits", error);
	say("stays", cudaGetLastError());
	say_calls(error);
	say("reset", cudaDeviceReset());
	if (!is_as_before())
		printf("not what was there before\n");
	cudaGetLastError();
	cudaMalloc(&dy, sizeof y);
	healthy<<<1, 32>>>(dy);
	cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
	say(y[31] == 31 ? "works again" : "does not work", cudaGetLastError());
	return 0;
}
