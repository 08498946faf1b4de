// counter++ by many threads is no atomic.
// EXPECT racecheck RAW|WAR|WAW error
#include <cstdio>

__global__ void histogram(const unsigned char *x, unsigned *y, int n)
{
	__shared__ unsigned bin[16];
	int t = threadIdx.x;
	if (t < 16)
		bin[t] = 0;
	__syncthreads();
	for (int i = t; i < n; i += blockDim.x) {
#ifdef FIXED
		atomicAdd(&bin[x[i] % 16], 1u);
#else
		bin[x[i] % 16]++; // BUG
#endif
	}
	__syncthreads();
	if (t < 16)
		atomicAdd(&y[t], bin[t]);
}

int main()
{
	unsigned char *x;
	unsigned *y;
	cudaMalloc(&x, 1000);
	cudaMalloc(&y, 16 * sizeof(unsigned));
	cudaMemset(x, 7, 1000);
	cudaMemset(y, 0, 16 * sizeof(unsigned));
	histogram<<<1, 128>>>(x, y, 1000);
	cudaDeviceSynchronize();
	return 0;
}
