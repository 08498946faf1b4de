// A pointer to one thread's own variable, followed by the others: on a GPU each finds its own memory there.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void follow(int *y)
{
	__shared__ int *place;
	int own = threadIdx.x;
	if (threadIdx.x == 0)
		place = &own;
	__syncthreads();
	IF_WRONG(own = *place); // BUG
	__syncthreads();
	y[threadIdx.x] = own;
}

MAIN(follow<<<1, 64>>>(empty<int>(64)))
