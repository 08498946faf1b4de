// The total is read while other warps still add to it.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void total(const int *x, int *y)
{
	__shared__ int s;
	if (threadIdx.x == 0)
		s = 0;
	__syncthreads();
	atomicAdd(&s, x[threadIdx.x]); // OTHER
	IF_RIGHT(__syncthreads());
	y[threadIdx.x] = s; // BUG
}

MAIN(total<<<1, 256>>>(ones<int>(256), empty<int>(256)))
