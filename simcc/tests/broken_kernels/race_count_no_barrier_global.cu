// Threads count in global memory, and one of them takes the sum: the barrier between is missing.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void count(const float *x, int *n, int *total)
{
	int t = threadIdx.x;
	if (t == 0)
		*n = 0;
	__syncthreads();
	if (x[t] > 0)
		atomicAdd(n, 1); // OTHER
#ifdef FIXED
	__syncthreads();
#endif
	if (t == blockDim.x - 1)
		*total = *n; // BUG
}

int main()
{
	float h[256];
	for (int i = 0; i < 256; i++)
		h[i] = 1;
	float *x = copy_of(h);
	int *n = zeros<int>(1), *total = zeros<int>(1);
	count<<<1, 256>>>(x, n, total);
	return end();
}
