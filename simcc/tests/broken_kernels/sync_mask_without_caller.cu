// EXPECT synccheck invalid_mask error
#include "main.cuh"

__global__ void half(int *y)
{
	int t = threadIdx.x;
	if (t < 16)
		y[t] = 1;
	__syncwarp(WRONG(0x0000ffff, 0xffffffff)); // BUG
	if (t >= 16)
		y[t] = y[t - 16];
}

MAIN(half<<<1, 32>>>(empty<int>(32)))
