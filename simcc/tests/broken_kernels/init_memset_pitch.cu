// cudaMemset2D leaves what lies between two rows as it is.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void sum(const int *x, int *y)
{
	atomicAdd(y, x[threadIdx.x]); // BUG
}

int main()
{
	int *x = empty<int>(4 * 8), *y = zeros<int>(1);
	cudaMemset2D(x, 32, 0, WRONG(16, 32), 4);
	sum<<<1, 32>>>(x, y);
	return end();
}
