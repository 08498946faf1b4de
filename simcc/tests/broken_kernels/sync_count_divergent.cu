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

MAIN(count<<<1, 64>>>(upwards<int>(64, -3), empty<int>(1)))
