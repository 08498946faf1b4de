// All lanes read a flag of one byte, and the first sets it again: the others may see the new one.
// EXPECT racecheck WAR warning
#include "main.cuh"

__global__ void next_phase(char *y)
{
	__shared__ char phase[4];
	if (threadIdx.x == 0)
		phase[0] = 1;
	__syncthreads();
	y[threadIdx.x] = phase[0]; // OTHER
#ifdef FIXED
	__syncwarp();
#endif
	if (threadIdx.x == 0)
		phase[0] = 2; // BUG
}

int main()
{
	char *y = empty<char>(32);
	next_phase<<<1, 32>>>(y);
	return end();
}
