// A thread writes a value and then a second one, which another thread writes, too: with the first that is a race, in
// whatever order they come. So is a read before the second. Kills a checker for which the second takes the place of
// what was before.
// EXPECT racecheck WAW|WAR|RAW error
// ORDERS all
#include "main.cuh"

__global__ void set(int *x, int *y)
{
	if (threadIdx.x == 0) {
#ifndef FIXED
		x[0] = 0;    // BUG
		y[0] = x[1]; // BUG
#endif
		x[0] = 2; // OTHER
		x[1] = 2; // OTHER
	}
	if (threadIdx.x == 32) {
		x[0] = 2; // OTHER
		x[1] = 2; // OTHER
	}
	__threadfence(); // orders nothing here
}

MAIN(set<<<1, 64>>>(zeros<int>(2), zeros<int>(1)))
