// EXPECT memcheck stack_overflow error
#include <cstdio>

__device__ int depth(int n)
{
#ifdef FIXED
	if (n == 0)
		return 0;
#endif
	return 1 + depth(n - 1); // BUG
}

__global__ void recurse(int *y)
{
	y[threadIdx.x] = depth(threadIdx.x);
}

int main()
{
	int *y;
	cudaMalloc(&y, 32 * sizeof(int));
	recurse<<<1, 32>>>(y);
	cudaDeviceSynchronize();
	return 0;
}
