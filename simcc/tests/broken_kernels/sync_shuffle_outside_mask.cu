// Half a warp sums up, beginning with the lanes of the other half.
// EXPECT synccheck outside_lane error
#include "main.cuh"

__global__ void pairs(const float *x, float *y)
{
	int t = threadIdx.x;
	float v = x[t];
	if (t % 32 < 16)
#ifdef FIXED
		v += __shfl_down_sync(0x0000ffff, v, 8, 16);
#else
		v += __shfl_down_sync(0x0000ffff, v, 16); // BUG
#endif
	y[t] = v;
}

int main()
{
	float *x = zeros<float>(64), *y = empty<float>(64);
	pairs<<<2, 32>>>(x, y);
	return end();
}
