// EXPECT racecheck RAW|WAR|WAW error
#include <cstdio>

__global__ void histogram(const int *x, int *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
#ifdef FIXED
		atomicAdd(&bins[x[i] & 7], 1);
#else
		bins[x[i] & 7] += 1; // BUG
#endif
	}
}

int main()
{
	int h[500], *x, *bins;
	for (int i = 0; i < 500; i++)
		h[i] = i * 13;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&bins, 8 * sizeof(int));
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	cudaMemset(bins, 0, 8 * sizeof(int));
	histogram<<<4, 128>>>(x, bins, 500);
	cudaDeviceSynchronize();
	return 0;
}
