// The total is read while other warps still add to it.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void total(const int *x, int *y)
{
	__shared__ int s;
	if (threadIdx.x == 0)
		s = 0;
	__syncthreads();
	atomicAdd(&s, x[threadIdx.x]); // OTHER
#ifdef FIXED
	__syncthreads();
#endif
	y[threadIdx.x] = s; // BUG
}

int main()
{
	int *x = empty<int>(256), *y = empty<int>(256);
	cudaMemset(x, 1, 256 * sizeof(int));
	total<<<1, 256>>>(x, y);
	return end();
}
