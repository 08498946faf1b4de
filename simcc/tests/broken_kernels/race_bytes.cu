// Bytes shifted by one in place. In the twin neighbors write into the same word at once: that is no race.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void shift(unsigned char *x)
{
	__shared__ unsigned char s[97];
	int t = threadIdx.x;
	s[t] = x[t];
	if (t == 0)
		s[96] = 0;
	__syncthreads();
	unsigned char next = s[t + 1]; // OTHER
	IF_RIGHT(__syncthreads());
	s[t] = next; // BUG
	x[t] = s[t];
}

MAIN(shift<<<1, 96>>>(ones<unsigned char>(96)))
