// A critical section that goes on after the unlock.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x == 32) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
		sum[0] += 1; // OTHER
#ifdef FIXED
		sum[1] += 1;
#endif
		__threadfence();
		atomicExch(lock, 0);
#ifndef FIXED
		sum[0] += 1; // BUG
#endif
	}
}

int main()
{
	int *lock = zeros<int>(2), *sum = zeros<int>(2);
	add<<<4, 96>>>(lock, sum);
	return end();
}
