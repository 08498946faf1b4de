// Half a warp sums up, beginning with the lanes of the other half.
// EXPECT synccheck outside_lane error
#include "main.cuh"

__global__ void pairs(const float *x, float *y)
{
	int t = threadIdx.x;
	float v = x[t];
	if (t % 32 < 16)
		v += WRONG(__shfl_down_sync(0x0000ffff, v, 16), __shfl_down_sync(0x0000ffff, v, 8, 16)); // BUG
	y[t] = v;
}

MAIN(pairs<<<2, 32>>>(zeros<float>(64), empty<float>(64)))
