// Two arrays in dynamic shared memory, only the first of which is filled.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void carve(const float *x, float *y)
{
	extern __shared__ float sram[];
	float *k = sram, *v = sram + 64;
	int t = threadIdx.x;
	k[t] = x[t];
	IF_RIGHT(v[t] = x[t + 64]);
	__syncthreads();
	y[t] = k[63 - t] * v[63 - t]; // BUG
}

MAIN(carve<<<1, 64, 128 * sizeof(float)>>>(zeros<float>(128), empty<float>(64)))
