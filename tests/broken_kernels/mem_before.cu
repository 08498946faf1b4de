// EXPECT memcheck out_of_bounds error
#include <cstdio>

__global__ void shift(const float *x, float *y)
{
	int i = threadIdx.x;
#ifdef FIXED
	y[i] = i > 0 ? x[i - 1] : 0;
#else
	y[i] = x[i - 1]; // BUG
#endif
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 64 * sizeof(float));
	cudaMalloc(&y, 64 * sizeof(float));
	cudaMemset(x, 0, 64 * sizeof(float));
	shift<<<1, 64>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
