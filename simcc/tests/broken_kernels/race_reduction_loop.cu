// A tree reduction whose barrier stands behind the loop instead of in it.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void sum(const float *x, float *y)
{
	__shared__ float s[256];
	int t = threadIdx.x;
	s[t] = x[blockIdx.x * 256 + t];
	__syncthreads();
	for (int half = 128; half > 0; half /= 2) {
		if (t < half)
			s[t] += s[t + half]; // BUG
		IF_RIGHT(__syncthreads());
	}
	__syncthreads();
	if (t == 0)
		y[blockIdx.x] = s[0];
}

MAIN(sum<<<2, 256>>>(zeros<float>(512), empty<float>(2)))
