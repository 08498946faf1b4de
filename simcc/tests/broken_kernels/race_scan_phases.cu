// Hillis-Steele in place: between reading the neighbor and adding it, a barrier is missing.
// EXPECT racecheck WAR|RAW error
// ORDERS all
#include "main.cuh"

__global__ void scan(int *x)
{
	__shared__ int s[256];
	int t = threadIdx.x;
	s[t] = x[t];
	__syncthreads();
	for (int step = 1; step < 256; step *= 2) {
		int add = t >= step ? s[t - step] : 0; // OTHER
#ifdef FIXED
		__syncthreads();
#endif
		s[t] += add; // BUG
		__syncthreads();
	}
	x[t] = s[t];
}

int main()
{
	int h[256];
	for (int i = 0; i < 256; i++)
		h[i] = 1;
	int *x = copy_of(h);
	scan<<<1, 256>>>(x);
	cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
#ifdef FIXED
	return h[255] != 256;
#endif
	return 0;
}
