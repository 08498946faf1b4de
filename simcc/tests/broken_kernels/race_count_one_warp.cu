// All lanes of one warp count, and one takes the sum without a __syncwarp().
// EXPECT racecheck RAW|WAR warning
// ORDERS all
#include "main.cuh"

__global__ void count(int *n, int *total)
{
	__shared__ int m;
	int t = threadIdx.x;
	if (t == 0)
		m = 0;
	__syncwarp();
	atomicAdd(&m, 1); // OTHER
	atomicAdd(n, 1);  // OTHER
	IF_RIGHT(__syncwarp());
	if (t == 31)
		total[0] = m; // BUG
	if (t == 31)
		total[1] = *n; // BUG
}

MAIN(count<<<1, 32>>>(zeros<int>(1), zeros<int>(2)))
