// A lock of block scope: two blocks can hold it at once.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

#define compare_and_swap WRONG(atomicCAS_block, atomicCAS)
#define exchange         WRONG(atomicExch_block, atomicExch)

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x % 32 == 0) {
		while (compare_and_swap(lock, 0, 1) != 0) // ALSO
			;
		__threadfence();
		sum[0] += 1; // BUG
		__threadfence();
		exchange(lock, 0); // ALSO
	}
}

MAIN(add<<<4, 96>>>(zeros<int>(2), zeros<int>(2)))
