// atomicExch_block() of a float is atomic for threads of one block; here the blocks of a grid exchange one word.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void pass_on(float *y, float *old)
{
	if (threadIdx.x != 0)
		return;
	old[blockIdx.x] = WRONG(atomicExch_block, atomicExch)(y, 1.0f + blockIdx.x); // BUG
}

MAIN(pass_on<<<4, 32>>>(zeros<float>(1), zeros<float>(4)))
