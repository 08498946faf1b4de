// Only the warps that have work wait at the barrier.
// EXPECT synccheck exited_threads warning
#include "main.cuh"

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
	float *x = zeros<float>(96), *y = empty<float>(128);
	load<<<1, 128>>>(x, y);
	return end();
}
