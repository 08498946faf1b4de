// Two threads write the same value, which is no error, and one of them then writes another. Kills a checker for which a
// store of the same value takes the place of the store before it.
// EXPECT racecheck WAW error
// ORDERS all
#include "main.cuh"

__global__ void set(int *x)
{
	if (threadIdx.x == 0)
		x[0] = 1; // BUG
	if (threadIdx.x == 32) {
		x[0] = 1;
		IF_WRONG(x[0] = 2); // BUG
	}
	__threadfence(); // orders nothing here
}

MAIN(set<<<1, 64>>>(zeros<int>(1)))
