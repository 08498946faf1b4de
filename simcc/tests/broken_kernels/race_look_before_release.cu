// A thread looks at the flag before it is set and does not look again: its fence acquires what it saw then, not what
// was released until the fence. Kills a checker that asks the flag when the fence comes.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void hand_over(volatile int *flag, int *data, int *turn, int *y)
{
	if (threadIdx.x == 32) {
#ifdef FIXED
		while (*flag == 0)
			;
#else
		y[1] = *flag;
		__threadfence();
		atomicExch(turn, 1);
		while (atomicAdd(turn, 0) != 2)
			;
#endif
		__threadfence();
		y[0] = data[0]; // BUG
	}
	if (threadIdx.x == 0) {
#ifndef FIXED
		while (atomicAdd(turn, 0) != 1)
			;
		atomicExch(turn, 2);
#endif
		data[0] = 1; // BUG
		__threadfence();
		*flag = 1;
	}
}

MAIN(hand_over<<<1, 64>>>(zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(3)))
