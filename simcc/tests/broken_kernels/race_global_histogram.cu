// EXPECT racecheck RAW|WAR|WAW error
#include "main.cuh"

__global__ void histogram(const int *x, int *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		WRONG(bins[x[i] & 7] += 1, atomicAdd(&bins[x[i] & 7], 1)); // BUG
	}
}

MAIN(histogram<<<4, 128>>>(upwards<int>(500), zeros<int>(8), 500))
