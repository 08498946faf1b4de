// Lanes of one warp wait for one another with masks that do not agree.
// EXPECT synccheck missing_lane|invalid_mask error
#include "main.cuh"

__global__ void meet(int *y)
{
	int t = threadIdx.x;
#ifdef FIXED
	unsigned mask = 0xffffffff;
#else
	unsigned mask = t < 8 ? 0x0000ffff : 0xffffffff;
#endif
	y[t] = __shfl_sync(mask, t, 0); // BUG
}

int main()
{
	int *y = empty<int>(32);
	meet<<<1, 32>>>(y);
	return end();
}
