// After more barriers than a cell of racecheck has numbers for, one is missing, in shared memory.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void rounds(int *y)
{
	__shared__ int s[64];
	const int t = threadIdx.x;
	for (int i = 0; i < 20000; i++)
		__syncthreads();
	s[t] = t; // OTHER
	IF_RIGHT(__syncthreads());
	y[t] = s[63 - t]; // BUG
}

MAIN(rounds<<<1, 64>>>(empty<int>(128)))
