// A pointer to code of the host, which lies in a part of the program that cannot be written, as its constants do.
// EXPECT memcheck host_pointer error
#include "main.cuh"

__global__ void first_of(const int *x, int *y)
{
	y[threadIdx.x] = x[threadIdx.x]; // BUG
}

int main()
{
	int *x = zeros<int>(32), *y = zeros<int>(32);
	first_of<<<1, 32>>>(WRONG((const int *)((size_t)&main & ~(size_t)15), x), y);
	return x == nullptr || end();
}
