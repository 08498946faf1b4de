// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__device__ int table[16];

__global__ void fill()
{
	if (threadIdx.x < WRONG(32, 16))
		table[threadIdx.x] = threadIdx.x; // BUG
}

MAIN(fill<<<1, 32>>>())
