// The lanes of a warp read what one of them then writes.
// EXPECT racecheck WAR|RAW warning
#include "main.cuh"

__global__ void normalize(float *x)
{
	float first = x[0];                  // OTHER
	float mine = x[threadIdx.x] - first; // OTHER
#ifdef FIXED
	__syncwarp();
#endif
	x[threadIdx.x] = mine; // BUG
}

int main()
{
	float *x = zeros<float>(32);
	normalize<<<1, 32>>>(x);
	return end();
}
