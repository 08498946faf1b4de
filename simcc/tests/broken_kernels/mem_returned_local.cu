// A function leaves the address of its own array behind, and the array is read when the function has returned.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__device__ __noinline__ void halves(const float *x, float *own, float **where)
{
	float WRONG(pair[2], *pair = own);
	pair[0] = x[threadIdx.x] / 2;
	pair[1] = x[threadIdx.x] - pair[0];
	*where = pair;
}

__global__ void sum_of_halves(const float *x, float *y)
{
	float own[2], *pair;
	halves(x, own, &pair);
	y[threadIdx.x] = pair[0]; // BUG
}

MAIN(sum_of_halves<<<1, 32>>>(zeros<float>(32), empty<float>(32)))
