// EXPECT synccheck invalid_mask error
#include <cstdio>

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
	int *y;
	cudaMalloc(&y, 32 * sizeof(int));
	half<<<1, 32>>>(y);
	cudaDeviceSynchronize();
	return 0;
}
