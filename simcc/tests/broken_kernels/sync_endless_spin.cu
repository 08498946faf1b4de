// Waits for a flag that nobody sets.
// EXPECT synccheck endless_loop error
// SLOW
#include "main.cuh"

__global__ void wait(volatile int *flag, int *y)
{
#ifdef FIXED
	if (threadIdx.x == 32) {
		__threadfence_block();
		*flag = 1;
	}
#endif
	if (threadIdx.x == 0)
		while (*flag == 0) // BUG
			;
	__syncthreads();
	y[threadIdx.x] = 1;
}

MAIN(wait<<<1, 64>>>(zeros<int>(1), empty<int>(64)))
