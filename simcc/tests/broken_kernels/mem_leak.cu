// EXPECT leakcheck any error noline
// CHECK all
// WHOLE
#include <cstdio>

__global__ void fill(float *x)
{
	x[threadIdx.x] = 1;
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 64 * sizeof(float));
	cudaMalloc(&y, 64 * sizeof(float));
	fill<<<1, 64>>>(x);
	fill<<<1, 64>>>(y);
	cudaFree(x);
#ifdef FIXED
	cudaFree(y);
#endif
	return 0;
}
