// After more barriers than a cell of racecheck has numbers for, one is missing, in global memory.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void rounds(int *y)
{
	int *s = y + 64;
	const int t = threadIdx.x;
	for (int i = 0; i < 20000; i++)
		__syncthreads();
	s[t] = t; // OTHER
	IF_RIGHT(__syncthreads());
	y[t] = s[63 - t]; // BUG
}

MAIN(rounds<<<1, 64>>>(zeros<int>(128)))
