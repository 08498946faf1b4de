// atomicAdd_block() is atomic for threads of one block; this sum is that of the grid.
// EXPECT racecheck WAW error
#include <cstdio>

__global__ void sum(const float *x, float *y)
{
	__shared__ float s;
	int t = threadIdx.x;
	if (t == 0)
		s = 0;
	__syncthreads();
	atomicAdd_block(&s, x[blockIdx.x * 64 + t]);
	__syncthreads();
#ifdef FIXED
	if (t == 0)
		atomicAdd(y, s);
#else
	if (t == 0)
		atomicAdd_block(y, s); // BUG
#endif
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 256 * sizeof(float));
	cudaMalloc(&y, sizeof(float));
	cudaMemset(x, 0, 256 * sizeof(float));
	cudaMemset(y, 0, sizeof(float));
	sum<<<4, 64>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
