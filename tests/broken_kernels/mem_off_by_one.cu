// EXPECT memcheck out_of_bounds error
// ORDERS all
#include <cstdio>

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
	float *x, *y;
	cudaMalloc(&x, 256 * sizeof(float));
	cudaMalloc(&y, 256 * sizeof(float));
	cudaMemset(x, 0, 256 * sizeof(float));
	difference<<<2, 128>>>(x, y, 256);
	cudaDeviceSynchronize();
	return 0;
}
