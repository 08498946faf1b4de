// EXPECT synccheck exited_threads warning
#include "main.cuh"

__global__ void count(const int *x, int *y)
{
	int t = threadIdx.x, n = 0;
#ifdef FIXED
	n = __syncthreads_count(x[t] > 0);
#else
	if (x[t] >= 0)
		n = __syncthreads_count(x[t] > 0); // BUG
#endif
	if (t == 0)
		*y = n;
}

int main()
{
	int h[64];
	for (int i = 0; i < 64; i++)
		h[i] = i - 3;
	int *x = copy_of(h), *y = empty<int>(1);
	count<<<1, 64>>>(x, y);
	return end();
}
