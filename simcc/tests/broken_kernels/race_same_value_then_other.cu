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
#ifndef FIXED
		x[0] = 2; // BUG
#endif
	}
	__threadfence(); // orders nothing here
}

int main()
{
	int *x = zeros<int>(1);
	set<<<1, 64>>>(x);
	return end(x);
}
