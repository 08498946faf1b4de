// Shared memory belongs to a block, and nobody has written it when that begins.
// EXPECT initcheck uninitialized error x4
// ORDERS all
#include "main.cuh"

// What block 0 has prepared, the others do not have.
__global__ void lookup(float *y)
{
	__shared__ float table[64];
	if (WRONG(blockIdx.x == 0, true))
		table[threadIdx.x] = 1.0f / (threadIdx.x + 1);
	__syncthreads();
	y[blockIdx.x * 64 + threadIdx.x] = table[63 - threadIdx.x]; // BUG
}

__global__ void dynamic_lookup(float *y)
{
	extern __shared__ float table[];
	if (WRONG(blockIdx.x == 0, true))
		table[threadIdx.x] = 1.0f / (threadIdx.x + 1);
	__syncthreads();
	y[blockIdx.x * 64 + threadIdx.x] = table[63 - threadIdx.x]; // BUG
}

// Two arrays in dynamic shared memory, only the first of which is filled.
__global__ void carve(const float *x, float *y)
{
	extern __shared__ float sram[];
	float *k = sram, *v = sram + 64;
	int t = threadIdx.x;
	k[t] = x[t];
	IF_RIGHT(v[t] = x[t + 64]);
	__syncthreads();
	y[t] = k[63 - t] * v[63 - t]; // BUG
}

// The transposed read walks into the padding column.
__global__ void transpose(const float *x, float *y)
{
	__shared__ float tile[16][17];
	int c = threadIdx.x, r = threadIdx.y;
	tile[r][c] = x[r * 16 + c];
	__syncthreads();
	y[r * 16 + c] = tile[c][WRONG(r + 1, r)]; // BUG
}

int main()
{
	float *x = zeros<float>(256), *y = empty<float>(256);
	lookup<<<4, 64>>>(y);
	dynamic_lookup<<<4, 64, 64 * sizeof(float)>>>(y);
	carve<<<1, 64, 128 * sizeof(float)>>>(x, y);
	transpose<<<1, dim3(16, 16)>>>(x, y);
	return end();
}
