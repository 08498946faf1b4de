// Warps exchange values through volatile shared memory, with a fence where a barrier belongs.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void swap(const float *x, float *y)
{
	__shared__ volatile float s[128];
	int t = threadIdx.x;
	s[t] = x[t]; // OTHER
#ifdef FIXED
	__syncthreads();
#else
	__threadfence_block();
#endif
	y[t] = s[t ^ 64]; // BUG
}

int main()
{
	float *x = zeros<float>(128), *y = empty<float>(128);
	swap<<<1, 128>>>(x, y);
	return end();
}
