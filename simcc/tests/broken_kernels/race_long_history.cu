// A word that two lanes of a warp read hundreds of times, with fences between; of a third lane, which has read it once before,
// the writer knows nothing. Kills a checker that forgets other lanes where it shortens a history.
// EXPECT racecheck WAR|RAW error
// ORDERS all
#include "main.cuh"

__global__ void read_often(const int *x, int *y, int *count, int *z)
{
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	if (threadIdx.x == 96) {
		while (atomicAdd(count, 0) < 6)
			;
		__threadfence();
		*(int *)x = 1; // BUG
	}
	if (warp == 3)
		return;
#ifndef FIXED
	if (threadIdx.x == 5)
		z[0] = x[0]; // BUG
#endif
	if (lane < 2) {
		int sum = 0;
		for (int i = 0; i < 200; i++) {
			sum += x[0];
			if (i % 3 == lane)
				__threadfence();
			sum += x[0];
		}
		y[2 * warp + lane] = sum;
		__threadfence();
		atomicAdd(count, 1);
	}
}

MAIN(read_often<<<1, 128>>>(zeros<int>(1), zeros<int>(6), zeros<int>(1), zeros<int>(1)))
