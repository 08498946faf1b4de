// cudaMemset counts bytes, not elements.
// EXPECT initcheck uninitialized error
#include <cstdio>

__global__ void histogram(const int *x, int *bins)
{
	atomicAdd(&bins[x[threadIdx.x] & 15], 1); // BUG
}

int main()
{
	int h[64], *x, *bins;
	for (int i = 0; i < 64; i++)
		h[i] = i;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&bins, 16 * sizeof(int));
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef FIXED
	cudaMemset(bins, 0, 16 * sizeof(int));
#else
	cudaMemset(bins, 0, 16);
#endif
	histogram<<<1, 64>>>(x, bins);
	cudaDeviceSynchronize();
	return 0;
}
