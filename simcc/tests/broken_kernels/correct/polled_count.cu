// One thread looks at a count before it adds to it, another waits for it: a volatile read and an atomic may meet. Kills
// a checker that takes the last reader for a plain one because another was.
#include "../main.cuh"

__global__ void wait_for(int *y)
{
	__shared__ int count;
	if (threadIdx.x == 0)
		count = 0;
	__syncthreads();
	if (threadIdx.x == 0 && count < 4)
		atomicAdd(&count, 1);
	if (threadIdx.x == 32)
		y[0] = *(volatile int *)&count;
	if (threadIdx.x == 64)
		y[1] = *(volatile int *)&count;
	__syncwarp();
	if (threadIdx.x == 0)
		atomicAdd(&count, 1);
}

MAIN(wait_for<<<1, 96>>>(zeros<int>(2)))
