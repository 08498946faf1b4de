// A reduction of the whole warp, reached by one lane of it.
// EXPECT synccheck exited_threads warning
#include "main.cuh"

__global__ void count(const int *x, int *y)
{
	int t = threadIdx.x, some = x[t] > 3;
#ifdef FIXED
	int sum = __reduce_add_sync(0xffffffff, some);
	if (t % 32 == 0)
		y[t / 32] = sum;
#else
	if (t % 32 == 0)
		y[t / 32] = __reduce_add_sync(0xffffffff, some); // BUG
#endif
}

MAIN(count<<<1, 96>>>(ones<int>(96), empty<int>(3)))
