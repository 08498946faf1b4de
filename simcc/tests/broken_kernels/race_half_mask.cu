// Each half of the warp synchronizes with itself, but reads what the other half wrote.
// EXPECT racecheck RAW|WAR warning
#include "main.cuh"

__global__ void exchange(int *y)
{
	__shared__ int s[32];
	int t = threadIdx.x;
	s[t] = t * t; // OTHER
#ifdef FIXED
	__syncwarp();
#else
	if (t < 16)
		__syncwarp(0x0000ffff);
	else
		__syncwarp(0xffff0000);
#endif
	y[t] = s[t ^ 16]; // BUG
}

MAIN(exchange<<<1, 32>>>(empty<int>(32)))
