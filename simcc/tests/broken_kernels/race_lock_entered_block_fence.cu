// Two blocks share a lock; one has a fence of a block's scope behind its taking of it. Kills a checker that knows only
// the order it ran, and one that takes any fence for one of the device.
// EXPECT racecheck WAW|RAW|WAR error
// ORDERS all
#include "main.cuh"

#define fence WRONG(__threadfence_block, __threadfence)

__global__ void set(int *lock, int *x)
{
	while (atomicExch(lock, 1) != 0)
		;
	if (blockIdx.x == 0)
		fence();
	else
		__threadfence();
	x[0] = blockIdx.x; // BUG
	__threadfence();
	atomicExch(lock, 0);
}

MAIN(set<<<2, 1>>>(zeros<int>(1), zeros<int>(1)))
