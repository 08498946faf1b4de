// cudaMemset counts bytes, not elements.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void histogram(const int *x, int *bins)
{
	atomicAdd(&bins[x[threadIdx.x] & 15], 1); // BUG
}

int main()
{
	int h[64];
	for (int i = 0; i < 64; i++)
		h[i] = i;
	int *x = copy_of(h), *bins = empty<int>(16);
#ifdef FIXED
	cudaMemset(bins, 0, 16 * sizeof(int));
#else
	cudaMemset(bins, 0, 16);
#endif
	histogram<<<1, 64>>>(x, bins);
	return end();
}
