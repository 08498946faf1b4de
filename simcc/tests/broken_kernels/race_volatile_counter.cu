// A counter between blocks that is volatile and not atomic: two may read the same number, and one count is lost.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

__global__ void count(unsigned *events)
{
	if (threadIdx.x == 0)
		WRONG(*(volatile unsigned *)events += 1, atomicAdd(events, 1u)); // BUG
}

MAIN(count<<<4, 32>>>(zeros<unsigned>(1)))
