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
		IF_RIGHT(__syncthreads());
		s[t] += add; // BUG
		__syncthreads();
	}
	x[t] = s[t];
}

int main()
{
	int *x = ones<int>(256);
	scan<<<1, 256>>>(x);
	return WRONG(0, element(x, 255) != 256) || end();
}
