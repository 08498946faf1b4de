// A thread's second copy, of 16 bytes, covers the first one, of 4: which comes last nobody knows.
// EXPECT racecheck WAW error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void twice(const float *x, float *y)
{
	alignas(16) __shared__ float s[128];
	__pipeline_memcpy_async(&s[4 * threadIdx.x + 1], &x[threadIdx.x], 4); // OTHER
	__pipeline_commit();
	IF_RIGHT(__pipeline_wait_prior(0));
	__pipeline_memcpy_async(&s[4 * threadIdx.x], &x[4 * threadIdx.x], 16); // BUG
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	y[threadIdx.x] = s[127 - threadIdx.x];
}

MAIN(twice<<<1, 32>>>(zeros<float>(128), zeros<float>(32)))
