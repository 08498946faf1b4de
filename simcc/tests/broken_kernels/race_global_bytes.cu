// A string moved one place to the left, in place, in global memory.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void shift(char *x, int n)
{
	int i = threadIdx.x;
	char next = i + 1 < n ? x[i + 1] : '\0'; // OTHER
	IF_RIGHT(__syncthreads());
	if (i < n)
		x[i] = next; // BUG
}

MAIN(shift<<<1, 128>>>(upwards<char>(100), 100))
