// Two warps store vectors that agree in their first half and differ in the second.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void last_tile(float4 *y)
{
	__shared__ float4 edge;
	int warp = threadIdx.x / 32;
	if (threadIdx.x % WRONG(32, 64) == 0)
		edge = make_float4(0, 0, 1, 1 + warp); // BUG OTHER
	__syncthreads();
	if (threadIdx.x == 0)
		*y = edge;
}

MAIN(last_tile<<<1, 64>>>(empty<float4>(1)))
