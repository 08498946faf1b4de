// __threadfence_block() orders for threads of one block, but the lock is taken by several.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

#define fence WRONG(__threadfence_block, __threadfence)

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		fence();
		sum[0] += 1; // BUG
		fence();
		atomicExch(lock, 0);
	}
}

MAIN(add<<<4, 96>>>(zeros<int>(2), zeros<int>(2)))
