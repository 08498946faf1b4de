// The fence stands after the unlock: the next holder may read before the sum is there.
// EXPECT racecheck RAW|WAW|WAR error
// ORDERS all
#include "main.cuh"

__device__ void unlock(int *lock)
{
#ifdef FIXED
	__threadfence();
	atomicExch(lock, 0);
#else
	atomicExch(lock, 0);
	__threadfence();
#endif
}

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
		*sum += 1; // BUG
		unlock(lock);
	}
}

MAIN(add<<<4, 96>>>(zeros<int>(2), zeros<int>(2)))
