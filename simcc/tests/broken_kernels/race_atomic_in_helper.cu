// A helper reads a total that other blocks still add to; before an atomicMax, the same helper is right.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__device__ int get(const int *p)
{
	return *p; // BUG
}

__global__ void maximum(int *most, int x)
{
	if ((int)threadIdx.x + x > get(most))
		atomicMax(most, threadIdx.x + x);
}

__global__ void sum(int *total, int *y)
{
	for (int i = 0; i < 2; i++) {
#ifdef FIXED
		y[64 * (2 * blockIdx.x + i) + threadIdx.x] = atomicAdd(total, 1);
#else
		atomicAdd(total, 1); // OTHER
		y[64 * (2 * blockIdx.x + i) + threadIdx.x] = get(total);
#endif
	}
}

int main()
{
	int *most = zeros<int>(1), *total = zeros<int>(1), *y = empty<int>(4 * 64);
	maximum<<<2, 64>>>(most, 3);
	sum<<<2, 64>>>(total, y);
	return end();
}
