// One of two threads takes the lock without a fence after it. When it comes first, the lock's order hides that: the turn
// of the other one must be looked at, too. Kills a checker that knows only the order it ran.
// EXPECT racecheck WAW|RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void set(int *lock, volatile int *x)
{
	if (threadIdx.x == 0) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		IF_RIGHT(__threadfence());
		x[0] = 1; // BUG
		__threadfence();
		atomicExch(lock, 0);
	}
	if (threadIdx.x == 32) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
		x[0] = 2; // BUG
		__threadfence();
		atomicExch(lock, 0);
	}
}

MAIN(set<<<1, 64>>>(zeros<int>(1), zeros<int>(1)))
