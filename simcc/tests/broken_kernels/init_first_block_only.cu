// Shared memory belongs to a block: what block 0 has prepared, the others do not have.
// EXPECT initcheck uninitialized error
// ORDERS all
#include "main.cuh"

__global__ void lookup(float *y)
{
	__shared__ float table[64];
	if (WRONG(blockIdx.x == 0, true))
		table[threadIdx.x] = 1.0f / (threadIdx.x + 1);
	__syncthreads();
	y[blockIdx.x * 64 + threadIdx.x] = table[63 - threadIdx.x]; // BUG
}

MAIN(lookup<<<4, 64>>>(empty<float>(4 * 64)))
