// A stage is filled again before all threads have read it.
// EXPECT racecheck WAR error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void sums(const float *x, float *y, int stages)
{
	__shared__ float s[64];
	float sum = 0;
	for (int stage = 0; stage < stages; stage++) {
		__pipeline_memcpy_async(&s[threadIdx.x], &x[64 * stage + threadIdx.x], 4); // BUG
		__pipeline_commit();
		__pipeline_wait_prior(0);
		__syncthreads();
		sum += s[(threadIdx.x + 40) % 64]; // OTHER
		IF_RIGHT(__syncthreads());
	}
	y[threadIdx.x] = sum;
}

MAIN(sums<<<1, 64>>>(zeros<float>(64 * 3), zeros<float>(64), 3))
