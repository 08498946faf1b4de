// Lanes of one warp wait for one another with masks that do not agree.
// EXPECT synccheck missing_lane|invalid_mask error
#include "main.cuh"

__global__ void meet(int *y)
{
	int t = threadIdx.x;
	unsigned mask = WRONG(t < 8 ? 0x0000ffff : 0xffffffff, 0xffffffff);
	y[t] = __shfl_sync(mask, t, 0); // BUG
}

MAIN(meet<<<1, 32>>>(empty<int>(32)))
