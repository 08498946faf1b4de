// The result is added to memory that cudaMalloc has left as it was.
// EXPECT initcheck uninitialized error
#include <cstdio>

__global__ void axpy(float a, const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += a * x[i]; // BUG
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 200 * sizeof(float));
	cudaMalloc(&y, 200 * sizeof(float));
	cudaMemset(x, 0, 200 * sizeof(float));
#ifdef FIXED
	cudaMemset(y, 0, 200 * sizeof(float));
#endif
	axpy<<<2, 128>>>(2, x, y, 200);
	cudaDeviceSynchronize();
	return 0;
}
