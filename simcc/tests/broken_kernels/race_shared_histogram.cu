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
		WRONG(bin[x[i] % 16]++, atomicAdd(&bin[x[i] % 16], 1u)); // BUG
	}
	__syncthreads();
	if (t < 16)
		atomicAdd(&y[t], bin[t]);
}

MAIN(histogram<<<1, 128>>>(ones<unsigned char>(1000), zeros<unsigned>(16), 1000))
