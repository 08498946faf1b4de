// EXPECT memcheck use_after_free error
#include "main.cuh"

__global__ void twice(float *x)
{
	x[threadIdx.x] *= 2; // BUG
}

int main()
{
	float *x = zeros<float>(64);
	IF_WRONG(cudaFree(x));
	twice<<<1, 64>>>(x);
	return end();
}
