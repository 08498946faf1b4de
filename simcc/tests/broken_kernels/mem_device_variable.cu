// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__device__ int table[16];

__global__ void fill()
{
#ifdef FIXED
	if (threadIdx.x < 16)
#endif
		table[threadIdx.x] = threadIdx.x; // BUG
}

MAIN(fill<<<1, 32>>>())
