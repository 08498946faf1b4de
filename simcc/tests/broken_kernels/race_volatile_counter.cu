// A counter between blocks that is volatile and not atomic: two may read the same number, and one count is lost.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

__global__ void count(unsigned *events)
{
	if (threadIdx.x == 0)
#ifdef FIXED
		atomicAdd(events, 1u);
#else
		*(volatile unsigned *)events += 1; // BUG
#endif
}

int main()
{
	unsigned *events = zeros<unsigned>(1);
	count<<<4, 32>>>(events);
	return end();
}
