// One byte of the mask is missing.
// EXPECT initcheck uninitialized error
#include <cstdio>

__global__ void count(const unsigned char *mask, int *y, int n)
{
	if (threadIdx.x < n && mask[threadIdx.x]) // BUG
		atomicAdd(y, 1);
}

int main()
{
	unsigned char *mask;
	int *y;
	cudaMalloc(&mask, 61);
	cudaMalloc(&y, sizeof(int));
#ifdef FIXED
	cudaMemset(mask, 1, 61);
#else
	cudaMemset(mask, 1, 60);
#endif
	cudaMemset(y, 0, sizeof(int));
	count<<<1, 64>>>(mask, y, 61);
	cudaDeviceSynchronize();
	return 0;
}
