// All lanes of a warp read an element in one instruction; the last of them writes it, while others may not have read it.
// EXPECT racecheck WAR warning
#include "main.cuh"

__global__ void number_lines(int *y)
{
	__shared__ int next;
	if (threadIdx.x == 0)
		next = 100;
	__syncthreads();
	int first = next; // OTHER
	IF_RIGHT(__syncwarp());
	if (threadIdx.x == 31)
		next = first + 32; // BUG
	__syncthreads();
	y[threadIdx.x] = first + threadIdx.x + next;
}

MAIN(number_lines<<<1, 32>>>(zeros<int>(32)))
