// Every thread writes a partial result; thread 0 announces them all without waiting for the others.
// EXPECT racecheck RAW error
// ORDERS all
#include "main.cuh"

__device__ unsigned finished;

__global__ void sum(const float *x, float *partial, float *y)
{
	__shared__ bool last;
	int t = threadIdx.x;
	partial[blockIdx.x * 64 + t] = 2 * x[blockIdx.x * 64 + t]; // OTHER
	__threadfence();
	IF_RIGHT(__syncthreads());
	if (t == 0)
		last = atomicAdd(&finished, 1) == gridDim.x - 1;
	__syncthreads();
	if (last) {
		float total = 0;
		for (int b = 0; b < gridDim.x; b++)
			total += partial[b * 64 + t]; // BUG
		y[t] = total;
	}
}

MAIN(sum<<<8, 64>>>(zeros<float>(512), empty<float>(512), empty<float>(64)))
