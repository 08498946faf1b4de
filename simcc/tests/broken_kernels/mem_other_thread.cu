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
#ifndef FIXED
	own = *place; // BUG
#endif
	__syncthreads();
	y[threadIdx.x] = own;
}

int main()
{
	int *y = empty<int>(64);
	follow<<<1, 64>>>(y);
	return end();
}
