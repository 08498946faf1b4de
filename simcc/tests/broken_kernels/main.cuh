// What the mains of these kernels share, in plain CUDA C++. A kernel whose bug is in its host code has all of its
// main itself, and so have the five marked WHOLE, which stand as people write them.
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

// first, first + step, first + 2 * step, ...
template <typename T>
T *upwards(size_t count, int first = 0, int step = 1)
{
	T *array = empty<T>(count), *host = new T[count];
	for (size_t i = 0; i < count; i++)
		host[i] = T(first + step * int(i));
	cudaMemcpy(array, host, count * sizeof(T), cudaMemcpyHostToDevice);
	delete[] host;
	return array;
}

template <typename T>
T *ones(size_t count)
{
	return upwards<T>(count, 1, 0);
}

template <typename T>
T element(const T *array, size_t i)
{
	T value;
	cudaMemcpy(&value, array + i, sizeof value, cudaMemcpyDeviceToHost);
	return value;
}

// What main returns. After a fault there is nothing to be freed; else nothing may be left.
inline int end()
{
	const bool good = cudaDeviceSynchronize() == cudaSuccess;
	while (good && allocated_count > 0)
		cudaFree(allocated[--allocated_count]);
	return !good;
}

// After a fault the device does nothing until this.
inline void reset()
{
	cudaDeviceReset();
	allocated_count = 0;
}

// The main of a kernel that is launched once.
#define MAIN(...)                                                                                                    \
	int main()                                                                                                   \
	{                                                                                                            \
		__VA_ARGS__;                                                                                         \
		return end();                                                                                        \
	}

#endif

// Once for each kernel that is compiled together with others: its bug, and what the twin has in its place.
#undef WRONG
#undef IF_WRONG
#undef IF_RIGHT
#ifdef FIXED
#define WRONG(broken, fixed) fixed
#define IF_WRONG(...)
#define IF_RIGHT(...) __VA_ARGS__
#else
#define WRONG(broken, fixed) broken
#define IF_WRONG(...)        __VA_ARGS__
#define IF_RIGHT(...)
#endif
