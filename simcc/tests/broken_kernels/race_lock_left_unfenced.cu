// One of two threads gives the lock back without a fence. When it comes last, nobody takes the lock after it. Kills a
// checker that knows only the order it ran.
// EXPECT racecheck WAW|RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void set(int *lock, int *x)
{
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
		if (threadIdx.x == 0) {
			x[0] = 1; // BUG
			IF_RIGHT(__threadfence());
		} else {
			x[0] = 2; // BUG
			__threadfence();
		}
		atomicExch(lock, 0);
	}
}

MAIN(set<<<1, 64>>>(zeros<int>(1), zeros<int>(1)))
