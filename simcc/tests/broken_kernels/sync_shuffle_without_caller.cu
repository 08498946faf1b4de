// EXPECT synccheck invalid_mask error
#include "main.cuh"

__global__ void sum(int *y)
{
	int v = threadIdx.x;
	const unsigned mask = WRONG(0xff, 0xffffffff);
	for (int step = 16; step > 0; step /= 2)
		v += __shfl_down_sync(mask, v, step); // BUG
	if (threadIdx.x == 0)
		*y = v;
}

MAIN(sum<<<1, 32>>>(empty<int>(1)))
