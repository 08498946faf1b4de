// The last, shorter part of a tile is read in full.
// EXPECT initcheck uninitialized error
#include "main.cuh"

__global__ void sum(const float *x, float *y, int n)
{
	__shared__ float s[128];
	int t = threadIdx.x, i = blockIdx.x * 128 + t;
#ifdef FIXED
	s[t] = i < n ? x[i] : 0;
#else
	if (i < n)
		s[t] = x[i];
#endif
	__syncthreads();
	for (int half = 64; half > 0; half /= 2) {
		if (t < half)
			s[t] += s[t + half]; // BUG
		__syncthreads();
	}
	if (t == 0)
		y[blockIdx.x] = s[0];
}

MAIN(sum<<<2, 128>>>(zeros<float>(200), empty<float>(2), 200))
