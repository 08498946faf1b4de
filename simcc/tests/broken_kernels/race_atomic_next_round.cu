// The sum of one round is read while a faster warp adds to it in the next one.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void rounds(const int *x, int *y)
{
	__shared__ int s;
	if (threadIdx.x == 0)
		s = 0;
	__syncthreads();
	for (int i = 0; i < 3; i++) {
		atomicAdd(&s, x[threadIdx.x]); // OTHER
		__syncthreads();
		y[64 * i + threadIdx.x] = s; // BUG
		IF_RIGHT(__syncthreads());
	}
}

MAIN(rounds<<<1, 64>>>(ones<int>(64), empty<int>(3 * 64)))
