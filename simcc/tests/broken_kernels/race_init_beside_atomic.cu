// Thread 0 sets the counters to zero while others already count.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void count(const int *x, int *y)
{
	__shared__ int bin[4];
	int t = threadIdx.x;
	if (t < 4)
		bin[t] = 0; // OTHER
#ifdef FIXED
	__syncthreads();
#endif
	atomicAdd(&bin[x[t] & 3], 1); // BUG
	__syncthreads();
	if (t < 4)
		y[t] = bin[t];
}

int main()
{
	int h[128];
	for (int i = 0; i < 128; i++)
		h[i] = i;
	int *x = copy_of(h), *y = empty<int>(4);
	count<<<1, 128>>>(x, y);
	return end();
}
