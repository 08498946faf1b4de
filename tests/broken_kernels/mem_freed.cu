// EXPECT memcheck use_after_free error
#include <cstdio>

__global__ void twice(float *x)
{
	x[threadIdx.x] *= 2; // BUG
}

int main()
{
	float *x;
	cudaMalloc(&x, 64 * sizeof(float));
	cudaMemset(x, 0, 64 * sizeof(float));
#ifdef FIXED
	twice<<<1, 64>>>(x);
	cudaFree(x);
#else
	cudaFree(x);
	twice<<<1, 64>>>(x);
#endif
	cudaDeviceSynchronize();
	return 0;
}
