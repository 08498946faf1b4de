// Thread 0 sets the counters to zero while others already count.
// EXPECT racecheck WAW error
#include <cstdio>

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
	int h[128], *x, *y;
	for (int i = 0; i < 128; i++)
		h[i] = i;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&y, 4 * sizeof(int));
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	count<<<1, 128>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
