// The shuffle synchronizes 16 lanes only; the lanes beyond read what lane 0 has written before it.
// EXPECT racecheck RAW|WAR warning
#include "main.cuh"

__global__ void broadcast(int *y)
{
	__shared__ int s;
	int t = threadIdx.x, v = t + 1;
#ifdef FIXED
	for (int step = 8; step > 0; step /= 2)
		v += __shfl_down_sync(0xffffffff, v, step, 16);
	if (t == 0)
		s = v;
	__syncwarp();
#else
	if (t == 0)
		s = v; // OTHER
	if (t < 16)
		for (int step = 8; step > 0; step /= 2)
			v += __shfl_down_sync(0x0000ffff, v, step);
#endif
	y[t] = s; // BUG
}

MAIN(broadcast<<<1, 32>>>(empty<int>(32)))
