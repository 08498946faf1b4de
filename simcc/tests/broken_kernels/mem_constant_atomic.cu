// An atomic on a constant: it is written, although it is read, too.
// EXPECT memcheck constant_write error
#include "main.cuh"

__constant__ int counts[32];

__global__ void count(int *y, int *into)
{
	y[threadIdx.x] = atomicAdd(&into[threadIdx.x], 1); // BUG
}

int main()
{
	int *y = empty<int>(32), *into = zeros<int>(32);
	IF_WRONG(cudaGetSymbolAddress((void **)&into, counts));
	count<<<1, 32>>>(y, into);
	return end();
}
