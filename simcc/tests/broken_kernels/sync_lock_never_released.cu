// EXPECT synccheck endless_loop error
// SLOW
#include "main.cuh"

__global__ void critical(int *lock, int *y)
{
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(lock, 0, 1) != 0) // BUG
			;
		__threadfence();
		*y += 1;
		__threadfence();
		IF_RIGHT(atomicExch(lock, 0));
	}
}

MAIN(critical<<<1, 128>>>(zeros<int>(1), zeros<int>(1)))
