// EXPECT racecheck RAW|WAR|WAW error
#include "main.cuh"

__global__ void histogram(const int *x, int *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
#ifdef FIXED
		atomicAdd(&bins[x[i] & 7], 1);
#else
		bins[x[i] & 7] += 1; // BUG
#endif
	}
}

int main()
{
	int h[500];
	for (int i = 0; i < 500; i++)
		h[i] = i * 13;
	int *x = copy_of(h), *bins = zeros<int>(8);
	histogram<<<4, 128>>>(x, bins, 500);
	return end();
}
