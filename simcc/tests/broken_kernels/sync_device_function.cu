// The barrier hides in a function that both arms call.
// EXPECT synccheck divergent_barrier error
// ORDERS all
#include "main.cuh"

__device__ float exchange(float *s, int t, float v)
{
	s[t] = v;
	__syncthreads(); // BUG
	return s[t ^ 1];
}

__global__ void arms(float *y)
{
	__shared__ float s[64];
	int t = threadIdx.x;
#ifdef FIXED
	y[t] = exchange(s, t, t < 32 ? 1 : 2);
#else
	if (t < 32)
		y[t] = exchange(s, t, 1);
	else
		y[t] = exchange(s, t, 2);
#endif
}

MAIN(arms<<<1, 64>>>(empty<float>(64)))
