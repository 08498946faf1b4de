// 32 threads add to one element without atomics.
// EXPECT racecheck RAW|WAR|WAW error|warning
#include "main.cuh"

__global__ void sum(const float *x, float *y)
{
	WRONG(*y += x[threadIdx.x], atomicAdd(y, x[threadIdx.x])); // BUG
}

MAIN(sum<<<1, 32>>>(upwards<float>(32), zeros<float>(1)))
