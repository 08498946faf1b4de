// EXPECT memcheck constant_write error
#include <cstdio>

__constant__ float weight[32];

__device__ void set(float *x, float v)
{
	*x = v; // BUG
}

__global__ void use(float *y)
{
	float w = weight[threadIdx.x];
#ifndef FIXED
	set(&weight[threadIdx.x], w + 1);
#endif
	y[threadIdx.x] = w;
}

int main()
{
	float h[32] = {0}, *y;
	cudaMemcpyToSymbol(weight, h, sizeof h);
	cudaMalloc(&y, sizeof h);
	use<<<1, 32>>>(y);
	cudaDeviceSynchronize();
	return 0;
}
