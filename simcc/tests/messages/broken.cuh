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

static int run_case(const broken_case *cases, size_t count, const char *name)
{
	int y[32] = {0}, *dy = NULL;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(cases[i].name, name) != 0)
			continue;
		cases[i].run();
		printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));
		printf("waits: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
		printf("call after it: %s\n", cudaGetErrorName(cudaMalloc(&dy, sizeof y)));
		printf("reset: %s\n", cudaGetErrorName(cudaDeviceReset()));
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
