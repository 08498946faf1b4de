// The last block adds up what the others have written; without a fence it may not see it yet.
// EXPECT racecheck RAW error
// ORDERS all
#include "main.cuh"

__device__ unsigned finished;

__global__ void sum(const float *x, float *partial, float *y)
{
	__shared__ float s[64];
	__shared__ bool last;
	int t = threadIdx.x;
	s[t] = x[blockIdx.x * 64 + t];
	__syncthreads();
	for (int half = 32; half > 0; half /= 2) {
		if (t < half)
			s[t] += s[t + half];
		__syncthreads();
	}
	if (t == 0) {
		partial[blockIdx.x] = s[0]; // OTHER
		IF_RIGHT(__threadfence());
		last = atomicAdd(&finished, 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && t == 0) {
		float total = 0;
		for (int b = 0; b < gridDim.x; b++)
			total += partial[b]; // BUG
		*y = total;
	}
}

MAIN(sum<<<8, 64>>>(zeros<float>(512), empty<float>(8), empty<float>(1)))
