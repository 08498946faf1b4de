// A critical section that goes on after the unlock.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x == 32) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
		sum[0] += 1; // OTHER
		IF_RIGHT(sum[1] += 1);
		__threadfence();
		atomicExch(lock, 0);
		IF_WRONG(sum[0] += 1); // BUG
	}
}

MAIN(add<<<4, 96>>>(zeros<int>(2), zeros<int>(2)))
