// The tile is read before every warp has written its part of it.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void reverse(const float *x, float *y)
{
	__shared__ float tile[128];
	int t = threadIdx.x;
	tile[t] = x[t]; // OTHER
	IF_RIGHT(__syncthreads());
	y[t] = tile[127 - t]; // BUG
}

MAIN(reverse<<<1, 128>>>(upwards<float>(128), empty<float>(128)))
