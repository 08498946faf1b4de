// A tile filled 16 bytes at a time and read 4 at a time.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void spread(const float4 *x, float *y)
{
	__shared__ float4 tile[64];
	const float *flat = (const float *)tile;
	int t = threadIdx.x;
	if (t < 64)
		tile[t] = x[t]; // OTHER
	IF_RIGHT(__syncthreads());
	y[t] = flat[t]; // BUG
}

MAIN(spread<<<1, 256>>>(zeros<float4>(64), empty<float>(256)))
