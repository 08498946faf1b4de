// The first lane looks up a value of its neighbour; what the others shuffle next is something else.
// EXPECT synccheck missing_lane error
#include <cstdio>

__global__ void spread(const int *x, int *y)
{
	int t = threadIdx.x, v = x[t];
#ifdef FIXED
	int next = __shfl_down_sync(0xffffffff, v, 1);
	if (t % 32 == 0)
		v += next;
#else
	if (t % 32 == 0)
		v += __shfl_down_sync(0xffffffff, v, 1); // BUG
#endif
	y[t] = __shfl_sync(0xffffffff, v, 0); // BUG
}

int main()
{
	int *x, *y;
	cudaMalloc(&x, 64 * sizeof(int));
	cudaMalloc(&y, 64 * sizeof(int));
	cudaMemset(x, 0, 64 * sizeof(int));
	spread<<<1, 64>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
