// The fence stands before the lock is taken, where it orders nothing that the last holder wrote.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x == 0) {
#ifndef FIXED
		__threadfence();
#endif
		while (atomicCAS(lock, 0, 1) != 0)
			;
#ifdef FIXED
		__threadfence();
#endif
		sum[0] += 1; // BUG
		__threadfence();
		atomicExch(lock, 0);
	}
}

int main()
{
	int *lock = zeros<int>(2), *sum = zeros<int>(2);
	add<<<4, 96>>>(lock, sum);
	return end();
}
