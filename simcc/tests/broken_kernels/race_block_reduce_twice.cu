// blockReduce is called twice, and its scratch array is written again while some warps still read the first sum.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__device__ float block_sum(float v)
{
	__shared__ float partial[4];
	int t = threadIdx.x;
	for (int step = 16; step > 0; step /= 2)
		v += __shfl_xor_sync(0xffffffff, v, step);
	IF_RIGHT(__syncthreads());
	if (t % 32 == 0)
		partial[t / 32] = v; // OTHER
	__syncthreads();
	return partial[0] + partial[1] + partial[2] + partial[3]; // BUG
}

__global__ void normalize(float *x)
{
	int t = threadIdx.x;
	float mean = block_sum(x[t]) / 128;
	float d = x[t] - mean;
	x[t] = d / block_sum(d * d + 1);
}

MAIN(normalize<<<1, 128>>>(ones<float>(128)))
