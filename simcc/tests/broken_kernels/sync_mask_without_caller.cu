// EXPECT synccheck invalid_mask error
#include "main.cuh"

__global__ void half(int *y)
{
	int t = threadIdx.x;
	if (t < 16)
		y[t] = 1;
#ifdef FIXED
	__syncwarp(0xffffffff);
#else
	__syncwarp(0x0000ffff); // BUG
#endif
	if (t >= 16)
		y[t] = y[t - 16];
}

int main()
{
	int *y = empty<int>(32);
	half<<<1, 32>>>(y);
	return end();
}
