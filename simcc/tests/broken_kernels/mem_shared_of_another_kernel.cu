// A kernel reads shared memory of the kernel before it, through a pointer that was kept.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__device__ int *kept;

__global__ void fill(int *y)
{
	__shared__ int squares[32];
	squares[threadIdx.x] = threadIdx.x * threadIdx.x;
	if (threadIdx.x == 0)
		kept = squares;
	__syncthreads();
	y[threadIdx.x] = squares[31 - threadIdx.x];
}

__global__ void use(const int *x, int *y)
{
#ifdef FIXED
	y[threadIdx.x] = x[threadIdx.x];
#else
	(void)x;
	y[threadIdx.x] = kept[threadIdx.x]; // BUG
#endif
}

int main()
{
	int *x = empty<int>(32), *y = empty<int>(32);
	fill<<<1, 32>>>(x);
	use<<<1, 32>>>(x, y);
	return end();
}
