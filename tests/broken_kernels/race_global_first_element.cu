// The lanes of a warp read what one of them then writes.
// EXPECT racecheck WAR|RAW warning
#include <cstdio>

__global__ void normalise(float *x)
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
	float *x;
	cudaMalloc(&x, 32 * sizeof(float));
	cudaMemset(x, 0, 32 * sizeof(float));
	normalise<<<1, 32>>>(x);
	cudaDeviceSynchronize();
	return 0;
}
