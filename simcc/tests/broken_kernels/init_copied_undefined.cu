// A copy on the device of memory nobody wrote is as undefined as the original.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void use(const int *x, int *y)
{
	y[threadIdx.x] = x[threadIdx.x]; // BUG
}

int main()
{
	int *a = empty<int>(64), *b = empty<int>(64), *y = empty<int>(64);
	cudaMemset(a, 0, WRONG(32, 64) * sizeof(int));
	cudaMemcpy(b, a, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
	use<<<1, 64>>>(b, y);
	return end();
}
