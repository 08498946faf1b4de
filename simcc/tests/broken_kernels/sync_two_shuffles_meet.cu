// The first lane looks up a value of its neighbor; what the others shuffle next is something else.
// EXPECT synccheck missing_lane error
#include "main.cuh"

__global__ void spread(const int *x, int *y)
{
	int t = threadIdx.x, v = x[t];
#ifdef FIXED
	int next = __shfl_down_sync(0xffffffff, v, 1);
	if (t % 32 == 0)
		v += next;
#else
	if (t % 32 == 0)
		v += __shfl_down_sync(0xffffffff, v, 1); // BUG
#endif
	y[t] = __shfl_sync(0xffffffff, v, 0); // BUG
}

MAIN(spread<<<1, 64>>>(zeros<int>(64), empty<int>(64)))
