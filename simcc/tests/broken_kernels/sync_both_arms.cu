// EXPECT synccheck divergent_barrier error
// ORDERS all
#include "main.cuh"

__global__ void arms(int *y)
{
	__shared__ int s[64];
	int t = threadIdx.x;
	if (t % 2 == 0) {
		s[t] = t;
#ifndef FIXED
		__syncthreads(); // BUG
#endif
	} else {
		s[t] = -t;
#ifndef FIXED
		__syncthreads(); // OTHER
#endif
	}
#ifdef FIXED
	__syncthreads();
#endif
	y[t] = s[63 - t];
}

int main()
{
	int *y = empty<int>(64);
	arms<<<1, 64>>>(y);
	return end();
}
