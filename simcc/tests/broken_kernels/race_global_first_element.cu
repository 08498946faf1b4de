// The lanes of a warp read what one of them then writes.
// EXPECT racecheck WAR|RAW warning
#include "main.cuh"

__global__ void normalize(float *x)
{
	float first = x[0];                  // OTHER
	float mine = x[threadIdx.x] - first; // OTHER
	IF_RIGHT(__syncwarp());
	x[threadIdx.x] = mine; // BUG
}

MAIN(normalize<<<1, 32>>>(zeros<float>(32)))
