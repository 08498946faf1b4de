// Only the warps that have work wait at the barrier.
// EXPECT synccheck exited_threads warning
#include <cstdio>

__global__ void load(const float *x, float *y)
{
	__shared__ float s[96];
	int t = threadIdx.x;
	if (t < 96) {
		s[t] = x[t];
#ifndef FIXED
		__syncthreads(); // BUG
#endif
	}
#ifdef FIXED
	__syncthreads();
#endif
	y[t] = t < 96 ? s[95 - t] : 0;
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 96 * sizeof(float));
	cudaMalloc(&y, 128 * sizeof(float));
	cudaMemset(x, 0, 96 * sizeof(float));
	load<<<1, 128>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
