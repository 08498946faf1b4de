// Two arrays in dynamic shared memory, only the first of which is filled.
// EXPECT initcheck uninitialized error
#include <cstdio>

__global__ void carve(const float *x, float *y)
{
	extern __shared__ float sram[];
	float *k = sram, *v = sram + 64;
	int t = threadIdx.x;
	k[t] = x[t];
#ifdef FIXED
	v[t] = x[t + 64];
#endif
	__syncthreads();
	y[t] = k[63 - t] * v[63 - t]; // BUG
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 128 * sizeof(float));
	cudaMalloc(&y, 64 * sizeof(float));
	cudaMemset(x, 0, 128 * sizeof(float));
	carve<<<1, 64, 128 * sizeof(float)>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
