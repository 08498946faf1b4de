// Two locks, one inside the other, and one thread takes both without a fence: each lock must not hide what the other does.
// Kills a checker that asks whether the accesses are ordered without the inner lock only, or without none of them; and one
// for which a thread that waits for the inner lock has learned something of the order of the outer one's turns.
// EXPECT racecheck WAW|RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void set(int *locks, volatile int *x)
{
	if (threadIdx.x % 32 != 0)
		return;
	for (int i = 0; i < 2; i++) {
		while (atomicCAS(&locks[i], 0, 1) != 0)
			;
		if (WRONG(threadIdx.x != 0, i == 0)) // the outer lock orders them
			__threadfence();
	}
	x[0] = threadIdx.x; // BUG
	atomicExch(&locks[1], 0);
	__threadfence();
	atomicExch(&locks[0], 0);
}

MAIN(set<<<1, 64>>>(zeros<int>(2), zeros<int>(1)))
