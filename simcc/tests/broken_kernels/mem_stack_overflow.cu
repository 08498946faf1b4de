// EXPECT memcheck stack_overflow error
#include "main.cuh"

__device__ int depth(int n)
{
	if (WRONG(false, n == 0))
		return 0;
	return 1 + depth(n - 1); // BUG
}

__global__ void recurse(int *y)
{
	y[threadIdx.x] = depth(threadIdx.x);
}

MAIN(recurse<<<1, 32>>>(empty<int>(32)))
