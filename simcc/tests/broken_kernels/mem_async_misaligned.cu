// A copy of 16 bytes to where a row of 33 floats begins.
// EXPECT memcheck misaligned error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void rows(const float *x, float *y)
{
	enum { STRIDE = WRONG(33, 36) };
	alignas(16) __shared__ float s[4 * STRIDE];
	int row = threadIdx.x / 8, c = threadIdx.x % 8 * 4;
	__pipeline_memcpy_async(&s[row * STRIDE + c], &x[row * 32 + c], 16); // BUG
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	y[threadIdx.x] = s[threadIdx.x];
}

MAIN(rows<<<1, 32>>>(zeros<float>(128), zeros<float>(32)))
