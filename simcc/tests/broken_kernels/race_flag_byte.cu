// All lanes read a flag of one byte, and the first sets it again: the others may see the new one.
// EXPECT racecheck WAR warning
#include "main.cuh"

__global__ void next_phase(char *y)
{
	__shared__ char phase[4];
	if (threadIdx.x == 0)
		phase[0] = 1;
	__syncthreads();
	y[threadIdx.x] = phase[0]; // OTHER
	IF_RIGHT(__syncwarp());
	if (threadIdx.x == 0)
		phase[0] = 2; // BUG
}

MAIN(next_phase<<<1, 32>>>(empty<char>(32)))
