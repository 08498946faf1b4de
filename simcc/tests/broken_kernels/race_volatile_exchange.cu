// Warps exchange values through volatile shared memory, with a fence where a barrier belongs.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void swap(const float *x, float *y)
{
	__shared__ volatile float s[128];
	int t = threadIdx.x;
	s[t] = x[t]; // OTHER
	WRONG(__threadfence_block, __syncthreads)();
	y[t] = s[t ^ 64]; // BUG
}

MAIN(swap<<<1, 128>>>(zeros<float>(128), empty<float>(128)))
