// Rows of 30 elements, 32 apart, are copied 16 bytes at a time: what lies behind their ends is not read. Nobody has written
// it when the copies begin, and a thread writes some of it meanwhile.
#include "../main.cuh"
#include <cuda_pipeline.h>

__global__ void rows(float *x, float *y, int columns)
{
	alignas(16) __shared__ float s[128];
	int row = threadIdx.x / 8, c = threadIdx.x % 8 * 4, left = columns - c;
	__pipeline_memcpy_async(&s[4 * threadIdx.x], &x[32 * row + c], 16, left >= 4 ? 0 : 16 - 4 * left);
	__pipeline_commit();
	if (c == 0)
		x[32 * row + columns] = 1;
	__pipeline_wait_prior(0);
	__syncthreads();
	y[threadIdx.x] = s[127 - threadIdx.x];
}

int main()
{
	float *x = empty<float>(128), *y = zeros<float>(32);
	for (int row = 0; row < 4; row++)
		cudaMemset(x + 32 * row, 0, 30 * sizeof *x);
	rows<<<1, 32>>>(x, y, 30);
	return end();
}
