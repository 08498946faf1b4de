// What an earlier allocation held is not what a new one holds, even at the same address.
// EXPECT initcheck uninitialized error
#include <cstdio>

__global__ void use(const int *x, int *y)
{
	y[threadIdx.x] = x[threadIdx.x]; // BUG
}

int main()
{
	int *x, *y;
	cudaMalloc(&y, 128 * sizeof(int));
	cudaMalloc(&x, 128 * sizeof(int));
	cudaMemset(x, 0, 128 * sizeof(int));
#ifndef FIXED
	cudaFree(x);
	cudaMalloc(&x, 128 * sizeof(int));
#endif
	use<<<1, 128>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
