// Two warps store vectors that agree in their first half and differ in the second.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void last_tile(float4 *y)
{
	__shared__ float4 edge;
	int warp = threadIdx.x / 32;
#ifdef FIXED
	if (threadIdx.x == 0)
#else
	if (threadIdx.x % 32 == 0)
#endif
		edge = make_float4(0, 0, 1, 1 + warp); // BUG OTHER
	__syncthreads();
	if (threadIdx.x == 0)
		*y = edge;
}

int main()
{
	float4 *y = empty<float4>(1);
	last_tile<<<1, 64>>>(y);
	return end();
}
