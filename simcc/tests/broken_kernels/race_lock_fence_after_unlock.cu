// The fence stands after the unlock: the next holder may read before the sum is there.
// EXPECT racecheck RAW|WAW|WAR error
// ORDERS all
#include "main.cuh"

__device__ void unlock(int *lock)
{
	IF_RIGHT(__threadfence());
	atomicExch(lock, 0);
	IF_WRONG(__threadfence());
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
