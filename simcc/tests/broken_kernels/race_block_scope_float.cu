// atomicExch_block() of a float is atomic for threads of one block; here the blocks of a grid exchange one word.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void pass_on(float *y, float *old)
{
	if (threadIdx.x != 0)
		return;
#ifdef FIXED
	old[blockIdx.x] = atomicExch(y, 1.0f + blockIdx.x);
#else
	old[blockIdx.x] = atomicExch_block(y, 1.0f + blockIdx.x); // BUG
#endif
}

int main()
{
	float *y = zeros<float>(1), *old = zeros<float>(4);
	pass_on<<<4, 32>>>(y, old);
	return end();
}
