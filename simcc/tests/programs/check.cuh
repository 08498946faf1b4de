// What these programs share: stop at the first CUDA error, and at the first wrong number.
#ifndef CHECK_CUH
#define CHECK_CUH

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                                  \
	do {                                                                                                         \
		cudaError_t error_ = (call);                                                                         \
		if (error_ != cudaSuccess) {                                                                         \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));   \
			exit(1);                                                                                     \
		}                                                                                                    \
	} while (0)

#define EXPECT(condition)                                                                                            \
	do {                                                                                                         \
		if (!(condition)) {                                                                                  \
			fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition);                       \
			exit(1);                                                                                     \
		}                                                                                                    \
	} while (0)

template <typename T>
T *device_copy(const T *host, size_t count)
{
	T *device;
	CHECK(cudaMalloc(&device, count * sizeof(T)));
	CHECK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
	return device;
}

template <typename T>
T *device_zeros(size_t count)
{
	T *device;
	CHECK(cudaMalloc((void **)&device, count * sizeof(T)));
	CHECK(cudaMemset(device, 0, count * sizeof(T)));
	return device;
}

template <typename T>
T element(const T *device, size_t i)
{
	T value;
	CHECK(cudaMemcpy(&value, device + i, sizeof value, cudaMemcpyDeviceToHost));
	return value;
}

// A kernel of what is written beside its launch, for the thread's number.
template <class F>
__global__ void each(F f)
{
	f((int)threadIdx.x);
}

// Of the first `count` elements on the device each is the one that is expected, which may depend on `i`.
#define EXPECT_EACH(device, count, i, expected)                                                                      \
	for (int i = 0; i < (count); i++)                                                                            \
	EXPECT(element(device, i) == (expected))

// Of lines that have what is and what should be: the number of the first that is wrong, or 0.
template <typename T, int N>
__device__ int first_wrong(const T (&lines)[N][2])
{
	for (int i = 0; i < N; i++)
		if (lines[i][0] != lines[i][1])
			return i + 1;
	return 0;
}

template <typename T>
void fetch(T *host, const T *device, size_t count)
{
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
}

#endif
