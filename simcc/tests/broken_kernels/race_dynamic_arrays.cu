// Two arrays carved out of dynamic shared memory: the second starts 32 elements too early.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void carve(float *y)
{
	extern __shared__ float sram[];
	float *a = sram, *b = sram + WRONG(32, 64);
	int t = threadIdx.x;
	a[t] = t;  // OTHER
	b[t] = -t; // BUG
	__syncthreads();
	y[t] = a[63 - t] + b[63 - t];
}

MAIN(carve<<<1, 64, 128 * sizeof(float)>>>(empty<float>(64)))
