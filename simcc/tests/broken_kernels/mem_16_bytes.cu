// 16 bytes at a time, from or to where they do not lie: rows that are not multiples of 16 bytes, and a ragged end.
// EXPECT memcheck misaligned|out_of_bounds error x4
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void load(const float *x, float *y, int stride)
{
	int row = threadIdx.x / 16, column = threadIdx.x % 16 * 4;
	float4 v = *(const float4 *)&x[row * stride + column]; // BUG
	y[threadIdx.x] = v.x + v.y + v.z + v.w;
}

__global__ void copy_to(const float *x, float *y)
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

// Less is read than is written: the source has to be aligned for what is written all the same.
__global__ void copy_from(const float *x, float *y, int columns, int stride)
{
	alignas(16) __shared__ float s[4 * 32];
	int row = threadIdx.x / 8, c = threadIdx.x % 8 * 4, left = columns - c, zeros = left > 0 ? 16 - 4 * left : 16;
	const float *from = &x[row * stride + c];
	if (left < 4)
		__pipeline_memcpy_async(&s[row * 32 + c], from, 16, zeros); // BUG
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	if (left > 0 && left < 4)
		y[threadIdx.x] = s[row * 32 + c];
}

__global__ void copy_tail(const float *x, float *y, int count)
{
	alignas(16) __shared__ float s[128];
	int c = 4 * threadIdx.x, left = count - c;
	if (left > 0)
		__pipeline_memcpy_async(&s[c], &x[c], 16, WRONG(0, left >= 4 ? 0 : 16 - 4 * left)); // BUG
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	if (c < count)
		y[threadIdx.x] = s[c];
}

int main()
{
	for (int way = 0; way < 4; way++) {
		float *x = zeros<float>(way < 3 ? 272 : 102), *y = empty<float>(64);
		switch (way) {
		case 0: load<<<1, 64>>>(x, y, WRONG(66, 68)); break;
		case 1: copy_to<<<1, 32>>>(x, y); break;
		case 2: copy_from<<<1, 32>>>(x, y, 30, WRONG(30, 32)); break;
		case 3: copy_tail<<<1, 32>>>(x, y, 102); break;
		}
		reset();
	}
	return end();
}
