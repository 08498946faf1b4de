// EXPECT synccheck divergent_barrier error
// ORDERS all
#include "main.cuh"

__global__ void arms(int *y)
{
	__shared__ int s[64];
	int t = threadIdx.x;
	if (t % 2 == 0) {
		s[t] = t;
		IF_WRONG(__syncthreads()); // BUG
	} else {
		s[t] = -t;
		IF_WRONG(__syncthreads()); // OTHER
	}
	IF_RIGHT(__syncthreads());
	y[t] = s[63 - t];
}

MAIN(arms<<<1, 64>>>(empty<int>(64)))
