// EXPECT memcheck out_of_bounds error
#include <cstdio>

__device__ int table[16];

__global__ void fill()
{
#ifdef FIXED
	if (threadIdx.x < 16)
#endif
		table[threadIdx.x] = threadIdx.x; // BUG
}

int main()
{
	fill<<<1, 32>>>();
	cudaDeviceSynchronize();
	return 0;
}
