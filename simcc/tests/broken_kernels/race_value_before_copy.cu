// A thread writes a value and then copies a struct over it, which another thread copies there, too. Kills a checker that
// takes what the copy leaves for the value that was written before it.
// EXPECT racecheck WAW error
// ORDERS all
#include "main.cuh"

struct pair {
	int a, b;
};

__global__ void set(pair *x, const pair *y)
{
	if (threadIdx.x == 0) {
		IF_WRONG(x->a = 1); // BUG
		*x = *y;            // OTHER
	}
	if (threadIdx.x == 32)
		*x = *y; // OTHER
	__threadfence(); // orders nothing here
}

MAIN(set<<<1, 64>>>(zeros<pair>(1), zeros<pair>(1)))
