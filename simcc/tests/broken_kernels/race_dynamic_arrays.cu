// Two arrays carved out of dynamic shared memory: the second starts 32 elements too early.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void carve(float *y)
{
	extern __shared__ float sram[];
#ifdef FIXED
	float *a = sram, *b = sram + 64;
#else
	float *a = sram, *b = sram + 32;
#endif
	int t = threadIdx.x;
	a[t] = t;  // OTHER
	b[t] = -t; // BUG
	__syncthreads();
	y[t] = a[63 - t] + b[63 - t];
}

int main()
{
	float *y = empty<float>(64);
	carve<<<1, 64, 128 * sizeof(float)>>>(y);
	return end();
}
