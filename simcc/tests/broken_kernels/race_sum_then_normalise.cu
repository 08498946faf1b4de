// All blocks add to one sum and divide by it in the same kernel: nobody waits for the other blocks.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void add(const float *x, float *sum)
{
	atomicAdd(sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void normalize(float *x, float *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef FIXED
	atomicAdd(sum, x[i]); // OTHER
	__syncthreads();
#endif
	x[i] /= *sum; // BUG
}

int main()
{
	float *x = ones<float>(256), *sum = zeros<float>(1);
	IF_RIGHT(add<<<4, 64>>>(x, sum));
	normalize<<<4, 64>>>(x, sum);
	return end();
}
