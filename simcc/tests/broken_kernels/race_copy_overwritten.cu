// The thread clears what its own copy is under way to: which comes last nobody knows.
// EXPECT racecheck WAW error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void first_half(const float *x, float *y, int count)
{
	__shared__ float s[64];
	if (threadIdx.x < count)
		__pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); // OTHER
	__pipeline_commit();
#ifdef FIXED
	if (threadIdx.x >= count)
#endif
		s[threadIdx.x] = 0; // BUG
	__pipeline_wait_prior(0);
	y[threadIdx.x] = s[threadIdx.x];
}

MAIN(first_half<<<1, 64>>>(zeros<float>(64), zeros<float>(64), 32))
