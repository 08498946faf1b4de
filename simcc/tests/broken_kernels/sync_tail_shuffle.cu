// Threads past the end leave, and the rest of their warp adds up what it reads from them.
// EXPECT synccheck exited_lane error
#include "main.cuh"

__global__ void sum(const double *x, double *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
	double v = i < n ? x[i] : 0;
#else
	if (i >= n)
		return;
	double v = x[i];
#endif
	for (int step = 16; step > 0; step /= 2)
		v += __shfl_down_sync(0xffffffff, v, step); // BUG
	if (threadIdx.x % 32 == 0)
		atomicAdd(y, v);
}

MAIN(sum<<<4, 64>>>(zeros<double>(200), zeros<double>(1), 200))
