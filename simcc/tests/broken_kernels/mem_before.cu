// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void shift(const float *x, float *y)
{
	int i = threadIdx.x;
	y[i] = WRONG(x[i - 1], i > 0 ? x[i - 1] : 0); // BUG
}

MAIN(shift<<<1, 64>>>(zeros<float>(64), empty<float>(64)))
