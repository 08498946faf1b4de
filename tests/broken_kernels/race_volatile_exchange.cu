// Warps exchange values through volatile shared memory, with a fence where a barrier belongs.
// EXPECT racecheck RAW|WAR error
#include <cstdio>

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
	float *x, *y;
	cudaMalloc(&x, 128 * sizeof(float));
	cudaMalloc(&y, 128 * sizeof(float));
	cudaMemset(x, 0, 128 * sizeof(float));
	swap<<<1, 128>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
