// Shared memory is not zero when a block starts.
// EXPECT initcheck uninitialized error
// ORDERS all
#include <cstdio>

__global__ void count(const int *x, int *y)
{
	__shared__ int bin[8];
#ifdef FIXED
	if (threadIdx.x < 8)
		bin[threadIdx.x] = 0;
	__syncthreads();
#endif
	atomicAdd(&bin[x[threadIdx.x] & 7], 1); // BUG
	__syncthreads();
	if (threadIdx.x < 8)
		y[threadIdx.x] = bin[threadIdx.x]; // ALSO
}

int main()
{
	int *x, *y;
	cudaMalloc(&x, 64 * sizeof(int));
	cudaMalloc(&y, 8 * sizeof(int));
	cudaMemset(x, 0, 64 * sizeof(int));
	count<<<1, 64>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
