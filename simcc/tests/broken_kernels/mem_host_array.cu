// A pointer to an array on the host's stack.
// EXPECT memcheck host_pointer error
#include "main.cuh"

__global__ void add(const int *x, int *y)
{
	y[threadIdx.x] += x[threadIdx.x]; // BUG
}

int main()
{
	int h[32] = {0};
	int *x = copy_of(h), *y = zeros<int>(32);
	add<<<1, 32>>>(WRONG(h, x), y);
	return end();
}
