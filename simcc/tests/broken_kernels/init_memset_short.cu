// cudaMemset counts bytes, not elements.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void histogram(const int *x, int *bins)
{
	atomicAdd(&bins[x[threadIdx.x] & 15], 1); // BUG
}

int main()
{
	int *x = upwards<int>(64), *bins = empty<int>(16);
	cudaMemset(bins, 0, WRONG(16, 16 * sizeof(int)));
	histogram<<<1, 64>>>(x, bins);
	return end();
}
