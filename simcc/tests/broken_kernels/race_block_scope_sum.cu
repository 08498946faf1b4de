// atomicAdd_block() is atomic for threads of one block; this sum is that of the grid.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void sum(const float *x, float *y)
{
	__shared__ float s;
	int t = threadIdx.x;
	if (t == 0)
		s = 0;
	__syncthreads();
	atomicAdd_block(&s, x[blockIdx.x * 64 + t]);
	__syncthreads();
	if (t == 0)
		WRONG(atomicAdd_block, atomicAdd)(y, s); // BUG
}

MAIN(sum<<<4, 64>>>(zeros<float>(256), zeros<float>(1)))
