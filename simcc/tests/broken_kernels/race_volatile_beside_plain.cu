// One warp stores through a volatile pointer, another reads without: volatile is no barrier.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void share(const float *x, float *most, float *y)
{
	int t = threadIdx.x;
	if (t == 0)
		*(volatile float *)most = x[0]; // OTHER
	IF_RIGHT(__syncthreads());
	y[t] = x[t] - *most; // BUG
}

MAIN(share<<<1, 64>>>(zeros<float>(64), zeros<float>(1), empty<float>(64)))
