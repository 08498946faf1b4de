// Threads of a block exchange results through global memory: that needs the same barrier as shared memory.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void exchange(float *scratch, float *y)
{
	float *mine = scratch + blockIdx.x * blockDim.x;
	int t = threadIdx.x;
	mine[t] = t; // OTHER
	IF_RIGHT(__syncthreads());
	y[blockIdx.x * blockDim.x + t] = mine[blockDim.x - 1 - t]; // BUG
}

MAIN(exchange<<<2, 128>>>(empty<float>(256), empty<float>(256)))
