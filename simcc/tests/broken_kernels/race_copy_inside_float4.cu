// A copy is under way to one element of the four that are read at once.
// EXPECT racecheck RAW error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void turn(const float *x, float4 *y)
{
	__shared__ float4 s[64];
	float4 *mine = &s[threadIdx.x];
	*mine = make_float4(1, 2, 3, 4);
	__pipeline_memcpy_async(&mine->z, &x[threadIdx.x], 4); // OTHER
	__pipeline_commit();
	IF_RIGHT(__pipeline_wait_prior(0));
	y[threadIdx.x] = *mine; // BUG
}

MAIN(turn<<<2, 64>>>(zeros<float>(64), zeros<float4>(64)))
