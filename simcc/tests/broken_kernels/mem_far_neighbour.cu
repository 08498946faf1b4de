// A wrong batch stride leads megabytes past the end, where another allocation may well lie.
// EXPECT memcheck out_of_bounds error
#include <cstdio>

__global__ void scale(float *x, size_t stride)
{
	x[blockIdx.x * stride + threadIdx.x] *= 2; // BUG
}

int main()
{
	float *d[8];
	for (int i = 0; i < 8; i++) {
		cudaMalloc(&d[i], 4 * 64 * sizeof(float));
		cudaMemset(d[i], 0, 4 * 64 * sizeof(float));
	}
#ifdef FIXED
	scale<<<4, 64>>>(d[0], 64);
#else
	scale<<<4, 64>>>(d[0], 1 << 18);
#endif
	cudaDeviceSynchronize();
	return 0;
}
