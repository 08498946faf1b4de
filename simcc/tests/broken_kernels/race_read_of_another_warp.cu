// A warp looks at an element twice and counts it up, without waiting for the other one, which looks at it, too.
// EXPECT racecheck WAR|RAW error
#include "main.cuh"

__global__ void take_a_number(int *y)
{
	__shared__ int next;
	int t = threadIdx.x, mine = 0;
	if (t == 0)
		next = 7;
	__syncthreads();
	if (t == 32)
		mine = next; // OTHER
	IF_RIGHT(__syncthreads());
	if (t == 0)
		mine = next;
	if (t == 1)
		mine = next + 1;
	__syncwarp();
	if (t == 0)
		next = mine + 2; // BUG
	y[t] = mine;
}

MAIN(take_a_number<<<1, 64>>>(zeros<int>(64)))
