// The wait stands behind the barrier: each thread knows that its own copies have arrived, and nothing of the others'.
// EXPECT racecheck RAW error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void turn(const float *x, float *y)
{
	__shared__ float s[64];
	__pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); // OTHER
	__pipeline_commit();
	IF_RIGHT(__pipeline_wait_prior(0));
	__syncthreads();
	IF_WRONG(__pipeline_wait_prior(0));
	y[threadIdx.x] = s[63 - threadIdx.x]; // BUG
}

MAIN(turn<<<2, 64>>>(zeros<float>(64), zeros<float>(64)))
