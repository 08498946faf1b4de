// Dynamic shared memory belongs to a block, too: what block 0 has prepared, the others do not have.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void lookup(float *y)
{
	extern __shared__ float table[];
	if (WRONG(blockIdx.x == 0, true))
		table[threadIdx.x] = 1.0f / (threadIdx.x + 1);
	__syncthreads();
	y[blockIdx.x * 64 + threadIdx.x] = table[63 - threadIdx.x]; // BUG
}

MAIN(lookup<<<4, 64, 64 * sizeof(float)>>>(empty<float>(4 * 64)))
