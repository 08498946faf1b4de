// The steps of a sum never end, for half / 2 changes nothing: each thread passes a barrier again and again.
// EXPECT synccheck endless_loop error
// SLOW
#include "main.cuh"

__global__ void sum(const float *x, float *y)
{
	__shared__ float s[64];
	int t = threadIdx.x;
	s[t] = x[t];
	__syncthreads();
	for (int half = 32; half > 0; WRONG(half / 2, half /= 2)) {
		if (t < half)
			s[t] += s[t + half];
		__syncthreads(); // BUG
	}
	if (t == 0)
		*y = s[0];
}

MAIN(sum<<<1, 64>>>(zeros<float>(64), empty<float>(1)))
