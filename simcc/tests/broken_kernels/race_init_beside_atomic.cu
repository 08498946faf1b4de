// Thread 0 sets the counters to zero while others already count.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void count(const int *x, int *y)
{
	__shared__ int bin[4];
	int t = threadIdx.x;
	if (t < 4)
		bin[t] = 0; // OTHER
	IF_RIGHT(__syncthreads());
	atomicAdd(&bin[x[t] & 3], 1); // BUG
	__syncthreads();
	if (t < 4)
		y[t] = bin[t];
}

MAIN(count<<<1, 128>>>(upwards<int>(128), empty<int>(4)))
