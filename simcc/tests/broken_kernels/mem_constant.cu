// An atomic on a constant: it is written, although it is read, too; and a store by a function that does not know.
// EXPECT memcheck constant_write error x2
#include "main.cuh"

__constant__ int counts[32];

__global__ void count(int *y, int *into)
{
	y[threadIdx.x] = atomicAdd(&into[threadIdx.x], 1); // BUG
}

__device__ void set(int *x, int v)
{
	*x = v; // BUG
}

__global__ void use(int *y, int *into)
{
	set(&into[threadIdx.x], 1);
	y[threadIdx.x] = counts[threadIdx.x];
}

int main()
{
	for (auto kernel : {count, use}) {
		int *y = empty<int>(32), *into = zeros<int>(32);
		IF_WRONG(cudaGetSymbolAddress((void **)&into, counts));
		kernel<<<1, 32>>>(y, into);
		reset();
	}
	return end();
}
