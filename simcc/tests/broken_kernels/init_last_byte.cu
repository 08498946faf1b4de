// All but the last byte of the last element has been written: a size that is one too small.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void add(const int *x, int *y)
{
	y[threadIdx.x] += x[threadIdx.x]; // BUG
}

int main()
{
	int h[64] = {0}, *x = empty<int>(64), *y = zeros<int>(64);
	cudaMemcpy(x, h, WRONG(sizeof h - 1, sizeof h), cudaMemcpyHostToDevice);
	add<<<1, 64>>>(x, y);
	return end();
}
