// The sum of one round is read while a faster warp adds to it in the next one.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void rounds(const int *x, int *y)
{
	__shared__ int s;
	if (threadIdx.x == 0)
		s = 0;
	__syncthreads();
	for (int i = 0; i < 3; i++) {
		atomicAdd(&s, x[threadIdx.x]); // OTHER
		__syncthreads();
		y[64 * i + threadIdx.x] = s; // BUG
#ifdef FIXED
		__syncthreads();
#endif
	}
}

int main()
{
	int *x = empty<int>(64), *y = empty<int>(3 * 64);
	cudaMemset(x, 1, 64 * sizeof(int));
	rounds<<<1, 64>>>(x, y);
	return end();
}
