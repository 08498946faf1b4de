// Shared memory is not zero when a block starts.
// EXPECT initcheck uninitialized error
// ORDERS all
#include "main.cuh"

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

MAIN(count<<<1, 64>>>(zeros<int>(64), empty<int>(8)))
