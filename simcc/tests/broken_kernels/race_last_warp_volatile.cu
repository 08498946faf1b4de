// The same in the style of 2010: volatile has never been a __syncwarp().
// EXPECT racecheck RAW|WAR warning
#include "main.cuh"

__device__ void warp_sum(volatile float *s, int t)
{
	for (int step = 32; step > 0; step /= 2) {
#ifdef FIXED
		float other = s[t + step];
		__syncwarp();
		s[t] += other;
		__syncwarp();
#else
		s[t] += s[t + step]; // BUG
#endif
	}
}

__global__ void sum(const float *x, float *y)
{
	__shared__ float s[128];
	int t = threadIdx.x;
	s[t] = x[t];
	s[t + 64] = 0;
	__syncthreads();
	if (t < 32)
		warp_sum(s, t);
	if (t == 0)
		*y = s[0];
}

MAIN(sum<<<1, 64>>>(zeros<float>(64), empty<float>(1)))
