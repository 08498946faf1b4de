// All lanes write the same value, which is no error, and each reads what the others wrote. Kills a checker that takes
// lanes that read as one for one thread.
// EXPECT racecheck RAW|WAR warning
// ORDERS all
#include "main.cuh"

__global__ void set(int *x, int *y)
{
	x[0] = 1; // BUG
	IF_RIGHT(__syncwarp());
	y[threadIdx.x] = x[0]; // BUG
	__threadfence();       // orders nothing here
}

MAIN(set<<<1, 32>>>(zeros<int>(1), zeros<int>(32)))
