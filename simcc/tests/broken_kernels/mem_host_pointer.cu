// EXPECT memcheck host_pointer error
// WHOLE
#include <cstdio>
#include <cstdlib>

__global__ void twice(float *x)
{
	x[threadIdx.x] *= 2; // BUG
}

int main()
{
	float *h = (float *)calloc(64, sizeof(float)), *x;
	cudaMalloc(&x, 64 * sizeof(float));
	cudaMemcpy(x, h, 64 * sizeof(float), cudaMemcpyHostToDevice);
#ifdef FIXED
	twice<<<1, 64>>>(x);
#else
	twice<<<1, 64>>>(h);
#endif
	cudaDeviceSynchronize();
	free(h);
	return 0;
}
