// EXPECT memcheck constant_write error
#include "main.cuh"

__constant__ float weight[32];

__device__ void set(float *x, float v)
{
	*x = v; // BUG
}

__global__ void use(float *y)
{
	float w = weight[threadIdx.x];
	IF_WRONG(set(&weight[threadIdx.x], w + 1));
	y[threadIdx.x] = w;
}

int main()
{
	float h[32] = {0};
	cudaMemcpyToSymbol(weight, h, sizeof h);
	float *y = empty<float>(32);
	use<<<1, 32>>>(y);
	return end();
}
