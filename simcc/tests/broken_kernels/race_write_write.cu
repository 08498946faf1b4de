// Every warp's first lane puts its result into the same element.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void last_wins(int *y)
{
	__shared__ int result[4];
	int t = threadIdx.x, warp = t / 32;
	if (t % 32 == 0) {
		result[WRONG(0, warp)] = t + warp; // BUG
	}
	__syncthreads();
	if (t == 0)
		*y = result[0];
}

MAIN(last_wins<<<1, 128>>>(empty<int>(1)))
