// EXPECT memcheck out_of_bounds error
// ORDERS all
#include "main.cuh"

__global__ void difference(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < WRONG(n, n - 1))
		y[i] = x[i + 1] - x[i]; // BUG
}

MAIN(difference<<<2, 128>>>(zeros<float>(256), empty<float>(256), 256))
