// cudaMalloc counts bytes, not elements.
// EXPECT memcheck out_of_bounds error
#include <cstdio>

__global__ void square(double *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = (double)i * i; // BUG
}

int main()
{
	double *x;
#ifdef FIXED
	cudaMalloc(&x, 100 * sizeof(double));
#else
	cudaMalloc(&x, 100 * sizeof(float));
#endif
	square<<<1, 128>>>(x, 100);
	cudaDeviceSynchronize();
	return 0;
}
