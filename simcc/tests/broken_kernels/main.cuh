// What the mains of these kernels share, in plain CUDA C++. A kernel whose bug is in its host code has all of its
// main itself, and so have the ten marked WHOLE, which stand as people write them.
#ifndef MAIN_CUH
#define MAIN_CUH

#include <cstdio>

static void *allocated[16];
static int allocated_count;

// An array on the device that nobody has written.
template <typename T>
T *empty(size_t count)
{
	T *array;
	cudaMalloc(&array, count * sizeof(T));
	if (allocated_count < 16)
		allocated[allocated_count++] = array;
	return array;
}

template <typename T>
T *zeros(size_t count)
{
	T *array = empty<T>(count);
	cudaMemset(array, 0, count * sizeof(T));
	return array;
}

template <typename T, size_t N>
T *copy_of(const T (&host)[N])
{
	T *array = empty<T>(N);
	cudaMemcpy(array, host, sizeof host, cudaMemcpyHostToDevice);
	return array;
}

template <typename... T>
void free_all(T *...arrays)
{
	int freed[] = {0, (cudaFree(arrays), 0)...};
	(void)freed;
}

// What main returns. After a fault there is nothing to be freed.
inline int end()
{
	for (bool good = cudaDeviceSynchronize() == cudaSuccess; good && allocated_count > 0;)
		cudaFree(allocated[--allocated_count]);
	return 0;
}

// A correct one leaves nothing.
template <typename... T>
int end(T *...arrays)
{
	cudaError_t error = cudaDeviceSynchronize();
	free_all(arrays...);
	return error != cudaSuccess;
}

#endif
