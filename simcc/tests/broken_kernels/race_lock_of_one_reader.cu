// Two lanes that know the same read a word in one instruction, one of them under a lock, which it gives back before it
// has waited for the other. Kills a checker that takes the two for one reader.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void pass_on(int *lock, int *x, int *y)
{
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	if (lane == 1) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		__threadfence();
	}
	__syncwarp();
	if (lane == 1 || lane == 2)
		y[threadIdx.x] = x[warp]; // BUG
	IF_RIGHT(__syncwarp());
	if (lane == 1) {
		x[1 - warp] = 1; // BUG
		__threadfence();
		atomicExch(lock, 0);
	}
}

MAIN(pass_on<<<1, 64>>>(zeros<int>(1), zeros<int>(2), empty<int>(64)))
