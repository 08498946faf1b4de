// Atomics of block scope are atomic for threads of one block; here blocks exchange one word, and add to another.
// EXPECT racecheck WAW error x2
#include "main.cuh"

__global__ void pass_on(float *y, float *old)
{
	if (threadIdx.x == 0)
		old[blockIdx.x] = WRONG(atomicExch_block, atomicExch)(y, 1.0f + blockIdx.x); // BUG
}

__global__ void sum(const float *x, float *y)
{
	__shared__ float s;
	int t = threadIdx.x;
	if (t == 0)
		s = 0;
	__syncthreads();
	atomicAdd_block(&s, x[blockIdx.x * 64 + t]);
	__syncthreads();
	if (t == 0)
		WRONG(atomicAdd_block, atomicAdd)(y, s); // BUG
}

int main()
{
	float *x = zeros<float>(256), *y = zeros<float>(2);
	pass_on<<<4, 32>>>(y, x);
	sum<<<4, 64>>>(x, y + 1);
	return end();
}
