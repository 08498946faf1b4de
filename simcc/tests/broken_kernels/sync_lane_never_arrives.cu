// A full mask inside a branch that only some lanes take.
// EXPECT synccheck missing_lane|divergent_barrier error
// ORDERS all
#include "main.cuh"

__global__ void sum(const int *x, int *y, int n)
{
	int t = threadIdx.x;
#ifdef FIXED
	int v = t < n ? x[t] : 0;
	for (int step = 16; step > 0; step /= 2)
		v += __shfl_down_sync(0xffffffff, v, step);
#else
	int v = 0;
	if (t < n) {
		v = x[t];
		for (int step = 16; step > 0; step /= 2)
			v += __shfl_down_sync(0xffffffff, v, step); // BUG
	}
#endif
	__syncthreads(); // ALSO
	if (t == 0)
		*y = v;
}

MAIN(sum<<<1, 32>>>(zeros<int>(20), empty<int>(1), 20))
