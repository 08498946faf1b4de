// EXPECT memcheck out_of_bounds error
// ORDERS all
#include "main.cuh"

__global__ void difference(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
	if (i < n - 1)
#else
	if (i < n)
#endif
		y[i] = x[i + 1] - x[i]; // BUG
}

int main()
{
	float *x = zeros<float>(256), *y = empty<float>(256);
	difference<<<2, 128>>>(x, y, 256);
	return end();
}
