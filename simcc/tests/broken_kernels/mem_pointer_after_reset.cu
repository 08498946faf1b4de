// EXPECT memcheck use_after_free|out_of_bounds error
#include <cstdio>

__global__ void twice(float *x)
{
	x[threadIdx.x] = 2; // BUG
}

int main()
{
	float *x;
	cudaMalloc(&x, 64 * sizeof(float));
	cudaDeviceReset();
#ifdef FIXED
	cudaMalloc(&x, 64 * sizeof(float));
#endif
	twice<<<1, 64>>>(x);
	cudaDeviceSynchronize();
	return 0;
}
