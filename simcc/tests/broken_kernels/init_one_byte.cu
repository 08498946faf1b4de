// One byte of the mask is missing.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void count(const unsigned char *mask, int *y, int n)
{
	if (threadIdx.x < n && mask[threadIdx.x]) // BUG
		atomicAdd(y, 1);
}

int main()
{
	unsigned char *mask = empty<unsigned char>(61);
	int *y = zeros<int>(1);
	cudaMemset(mask, 1, WRONG(60, 61));
	count<<<1, 64>>>(mask, y, 61);
	return end();
}
