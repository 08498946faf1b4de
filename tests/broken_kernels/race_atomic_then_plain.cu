// The total is read while other warps still add to it.
// EXPECT racecheck RAW|WAR error
#include <cstdio>

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
	int *x, *y;
	cudaMalloc(&x, 256 * sizeof(int));
	cudaMalloc(&y, 256 * sizeof(int));
	cudaMemset(x, 1, 256 * sizeof(int));
	total<<<1, 256>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
