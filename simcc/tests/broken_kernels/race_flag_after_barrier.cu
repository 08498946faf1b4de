// What a thread has released at a flag before a barrier says nothing of what it does there after it. Kills a checker for
// which it has, because no fence stands between the two.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void count(int *flag, int *y)
{
	if (threadIdx.x == 0)
		__threadfence();
	atomicAdd(flag, 1);
	__syncthreads();
	if (threadIdx.x == 0)
		*(volatile int *)flag = 7; // BUG
	IF_RIGHT(__syncthreads());
	if (threadIdx.x == 32)
		y[0] = *flag; // BUG
}

MAIN(count<<<1, 64>>>(zeros<int>(1), zeros<int>(1)))
