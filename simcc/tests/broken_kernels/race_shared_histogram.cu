// counter++ by many threads is no atomic.
// EXPECT racecheck RAW|WAR|WAW error
#include "main.cuh"

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
	unsigned char *x = empty<unsigned char>(1000);
	unsigned *y = zeros<unsigned>(16);
	cudaMemset(x, 7, 1000);
	histogram<<<1, 128>>>(x, y, 1000);
	return end();
}
