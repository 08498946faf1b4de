// The fence stands before the lock is taken, where it orders nothing that the last holder wrote.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x == 0) {
		IF_WRONG(__threadfence());
		while (atomicCAS(lock, 0, 1) != 0)
			;
		IF_RIGHT(__threadfence());
		sum[0] += 1; // BUG
		__threadfence();
		atomicExch(lock, 0);
	}
}

MAIN(add<<<4, 96>>>(zeros<int>(2), zeros<int>(2)))
