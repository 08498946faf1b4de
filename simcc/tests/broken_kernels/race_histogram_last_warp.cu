// The last warp writes the histogram out without waiting for the others.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void histogram(int *y)
{
	__shared__ int h[4];
	int t = threadIdx.x;
	if (t < 4)
		h[t] = 0;
	__syncthreads();
	atomicAdd(&h[t % 4], 1); // OTHER
	WRONG(__syncwarp, __syncthreads)();
	if (t >= 124)
		y[t - 124] = h[t - 124]; // BUG
}

MAIN(histogram<<<1, 128>>>(empty<int>(4)))
