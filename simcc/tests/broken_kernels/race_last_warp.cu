// The last warp of a reduction relies on its lanes going in step.
// EXPECT racecheck RAW|WAR warning
#include "main.cuh"

__global__ void sum(const float *x, float *y)
{
	__shared__ float s[64];
	int t = threadIdx.x;
	s[t] = x[t];
	s[t + 32] = x[t + 32];
	IF_RIGHT(__syncwarp());
	for (int half = 32; half > 0; half /= 2) {
		float mine = t < half ? s[t] + s[t + half] : 0; // BUG
		IF_RIGHT(__syncwarp());
		if (t < half)
			s[t] = mine; // OTHER
		IF_RIGHT(__syncwarp());
	}
	if (t == 0)
		*y = s[0];
}

MAIN(sum<<<1, 32>>>(zeros<float>(64), empty<float>(1)))
