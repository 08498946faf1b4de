// One thread of each block counts; that of the last block takes the sum as if it had come last.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void count(int *n, int *total)
{
	int before = atomicAdd(n, 1); // OTHER
#ifdef FIXED
	if (before == gridDim.x - 1)
		*total = before + 1;
#else
	if (before >= 0 && blockIdx.x == gridDim.x - 1)
		*total = *n; // BUG
#endif
}

MAIN(count<<<7, 1>>>(zeros<int>(1), zeros<int>(1)))
