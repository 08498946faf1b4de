// EXPECT synccheck invalid_mask error
#include "main.cuh"

__global__ void sum(int *y)
{
	int v = threadIdx.x;
#ifdef FIXED
	const unsigned mask = 0xffffffff;
#else
	const unsigned mask = 0xff;
#endif
	for (int step = 16; step > 0; step /= 2)
		v += __shfl_down_sync(mask, v, step); // BUG
	if (threadIdx.x == 0)
		*y = v;
}

int main()
{
	int *y = empty<int>(1);
	sum<<<1, 32>>>(y);
	return end();
}
