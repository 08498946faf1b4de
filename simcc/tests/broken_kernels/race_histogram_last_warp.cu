// The last warp writes the histogram out without waiting for the others.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void histogram(int *y)
{
	__shared__ int h[4];
	int t = threadIdx.x;
	if (t < 4)
		h[t] = 0;
	__syncthreads();
	atomicAdd(&h[t % 4], 1); // OTHER
#ifdef FIXED
	__syncthreads();
#else
	__syncwarp();
#endif
	if (t >= 124)
		y[t - 124] = h[t - 124]; // BUG
}

int main()
{
	int *y = empty<int>(4);
	histogram<<<1, 128>>>(y);
	return end();
}
