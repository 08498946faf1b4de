// The result is added to memory that cudaMalloc has left as it was.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void axpy(float a, const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += a * x[i]; // BUG
}

int main()
{
	float *x = zeros<float>(200), *y = empty<float>(200);
	IF_RIGHT(cudaMemset(y, 0, 200 * sizeof(float)));
	axpy<<<2, 128>>>(2, x, y, 200);
	return end();
}
