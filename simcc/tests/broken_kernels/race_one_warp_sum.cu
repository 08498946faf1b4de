// 32 threads add to one element without atomics.
// EXPECT racecheck RAW|WAR|WAW error|warning
#include "main.cuh"

__global__ void sum(const float *x, float *y)
{
#ifdef FIXED
	atomicAdd(y, x[threadIdx.x]);
#else
	*y += x[threadIdx.x]; // BUG
#endif
}

int main()
{
	float h[32];
	for (int i = 0; i < 32; i++)
		h[i] = i;
	float *x = copy_of(h), *y = zeros<float>(1);
	sum<<<1, 32>>>(x, y);
	return end();
}
