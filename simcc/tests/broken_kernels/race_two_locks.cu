// Each half of the block has a lock of its own, and both guard one sum.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

__global__ void add(int *lock, int *sum)
{
	int half = threadIdx.x >= 64;
	if (threadIdx.x % 64 == 0) {
		while (atomicCAS(&lock[half], 0, 1) != 0)
			;
		__threadfence();
		sum[WRONG(0, half)] += 1; // BUG
		__threadfence();
		atomicExch(&lock[half], 0);
	}
}

MAIN(add<<<4, 96>>>(zeros<int>(2), zeros<int>(2)))
