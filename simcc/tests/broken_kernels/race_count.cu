// Threads count while others set the count to zero, or take it.
// EXPECT racecheck RAW|WAR|WAW error x6
// ORDERS all
#include "main.cuh"

// The last thread has waited for its own warp alone.
__global__ void in_shared(const float *x, int *total)
{
	__shared__ int n;
	int t = threadIdx.x;
	if (t == 0)
		n = 0;
	__syncthreads();
	if (x[t] > 0)
		atomicAdd(&n, 1); // OTHER
	WRONG(__syncwarp, __syncthreads)();
	if (t == blockDim.x - 1)
		*total = n; // BUG
}

__global__ void in_global(const float *x, int *n, int *total)
{
	int t = threadIdx.x;
	if (t == 0)
		*n = 0;
	__syncthreads();
	if (x[t] > 0)
		atomicAdd(n, 1); // OTHER
	IF_RIGHT(__syncthreads());
	if (t == blockDim.x - 1)
		*total = *n; // BUG
}

// The sum of one round is read while a faster warp adds to it in the next one.
__global__ void next_round(const float *x, float *y)
{
	__shared__ float s;
	if (threadIdx.x == 0)
		s = 0;
	__syncthreads();
	for (int i = 0; i < 3; i++) {
		atomicAdd(&s, x[threadIdx.x]); // OTHER
		__syncthreads();
		y[threadIdx.x] = s; // BUG
		IF_RIGHT(__syncthreads());
	}
}

__global__ void cleared_late(int *y)
{
	__shared__ int bin[4];
	int t = threadIdx.x;
	if (t < 4)
		bin[t] = 0; // OTHER
	IF_RIGHT(__syncthreads());
	atomicAdd(&bin[t & 3], 1); // BUG
	__syncthreads();
	if (t < 4)
		y[t] = bin[t];
}

// One thread of each block counts; that of the last block takes the sum as if it had come last.
__global__ void between_blocks(int *n, int *total)
{
	int before = atomicAdd(n, 1); // OTHER
#ifdef FIXED
	if (before == gridDim.x - 1)
		*total = before + 1;
#else
	if (before >= 0 && blockIdx.x == gridDim.x - 1)
		*total = *n; // BUG
#endif
}

// All blocks add to one sum and divide by it in the same kernel: nobody waits for the other blocks.
__global__ void normalize(float *x, float *sum, bool adds)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (adds)
		atomicAdd(sum, x[i]); // OTHER
	__syncthreads();
	if (WRONG(true, !adds))
		x[i] /= *sum; // BUG
}

int main()
{
	float *x = ones<float>(256), *y = empty<float>(256), *sum = zeros<float>(1);
	int *n = zeros<int>(2), *total = zeros<int>(4);
	in_shared<<<1, 256>>>(x, total);
	in_global<<<1, 256>>>(x, n, total);
	next_round<<<1, 64>>>(x, y);
	cleared_late<<<1, 128>>>(total);
	between_blocks<<<7, 1>>>(n + 1, total);
	normalize<<<4, 64>>>(x, sum, true);
	IF_RIGHT(normalize<<<4, 64>>>(x, sum, false));
	return end();
}
