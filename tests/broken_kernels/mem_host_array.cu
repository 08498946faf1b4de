// A pointer to an array on the host's stack.
// EXPECT memcheck host_pointer error
#include <cstdio>

__global__ void add(const int *x, int *y)
{
	y[threadIdx.x] += x[threadIdx.x]; // BUG
}

int main()
{
	int h[32] = {0}, *x, *y;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&y, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	cudaMemset(y, 0, sizeof h);
#ifdef FIXED
	add<<<1, 32>>>(x, y);
#else
	add<<<1, 32>>>(h, y);
#endif
	cudaDeviceSynchronize();
	return 0;
}
