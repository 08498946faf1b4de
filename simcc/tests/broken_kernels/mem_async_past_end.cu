// The ragged end of a row is copied whole.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void tail(const float *x, float *y, int count)
{
	alignas(16) __shared__ float s[128];
	int c = 4 * threadIdx.x, left = count - c;
	size_t zero_bytes = 0;
	IF_RIGHT(zero_bytes = left >= 4 ? 0 : left > 0 ? 16 - 4 * left : 16);
	if (left > 0)
		__pipeline_memcpy_async(&s[c], &x[c], 16, zero_bytes); // BUG
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	if (threadIdx.x < count)
		y[threadIdx.x] = s[threadIdx.x];
}

MAIN(tail<<<1, 32>>>(zeros<float>(102), zeros<float>(32), 102))
