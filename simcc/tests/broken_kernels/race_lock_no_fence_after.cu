// A lock that is taken without a fence after it: what the last holder wrote need not be visible yet.
// EXPECT racecheck RAW|WAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		IF_RIGHT(__threadfence());
		sum[0] += 1; // BUG
		__threadfence();
		atomicExch(lock, 0);
	}
}

MAIN(add<<<4, 96>>>(zeros<int>(2), zeros<int>(2)))
