// Groups of 12 lanes, which no shuffle has.
// EXPECT synccheck invalid_mask error
#include "main.cuh"

__global__ void pairs(const float *x, float *y, int width)
{
	float v = x[threadIdx.x];
	y[threadIdx.x] = __shfl_sync(0xffffffff, v, 0, width); // BUG
}

MAIN(pairs<<<1, 32>>>(zeros<float>(32), empty<float>(32), WRONG(12, 16)))
