// Threads count in global memory, and one of them takes the sum: the barrier between is missing.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void count(const float *x, int *n, int *total)
{
	int t = threadIdx.x;
	if (t == 0)
		*n = 0;
	__syncthreads();
	if (x[t] > 0)
		atomicAdd(n, 1); // OTHER
	IF_RIGHT(__syncthreads());
	if (t == blockDim.x - 1)
		*total = *n; // BUG
}

MAIN(count<<<1, 256>>>(ones<float>(256), zeros<int>(1), zeros<int>(1)))
