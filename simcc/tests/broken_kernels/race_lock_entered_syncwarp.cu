// One of two threads reads under a lock that it has taken without a fence, after a __syncwarp(). Kills a checker that
// forgets the lock where all lanes have met.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void add(int *lock, int *x, int *y)
{
	if (threadIdx.x == 0) {
		__threadfence();
		atomicExch(&y[1], 1); // a release that nobody needs
		while (atomicCAS(lock, 0, 1) != 0)
			;
		IF_RIGHT(__threadfence());
	}
	if (threadIdx.x < 32)
		__syncwarp();
	if (threadIdx.x == 0) {
		y[0] = *x; // BUG
		__threadfence();
		atomicExch(lock, 0);
	}
	if (threadIdx.x == 32) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
		*x = 1; // BUG
		__threadfence();
		atomicExch(lock, 0);
	}
}

MAIN(add<<<1, 64>>>(zeros<int>(1), zeros<int>(1), zeros<int>(2)))
