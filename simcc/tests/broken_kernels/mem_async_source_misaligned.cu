// Of the source of a ragged row less is read than is written: its address has to be a multiple of 16 all the same.
// EXPECT memcheck misaligned error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void rows(const float *x, float *y, int columns)
{
	alignas(16) __shared__ float s[4 * 32];
	int row = threadIdx.x / 8, c = threadIdx.x % 8 * 4, left = columns - c;
	size_t zero_bytes = left >= 4 ? 0 : left > 0 ? 16 - 4 * left : 16;
	int stride = WRONG(columns, 32);
	if (left < 4)
		__pipeline_memcpy_async(&s[row * 32 + c], &x[row * stride + c], 16, zero_bytes); // BUG
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	if (left > 0 && left < 4)
		y[threadIdx.x] = s[row * 32 + c];
}

MAIN(rows<<<1, 32>>>(zeros<float>(128), zeros<float>(32), 30))
