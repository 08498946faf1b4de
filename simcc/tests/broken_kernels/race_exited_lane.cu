// A lane that has left meets no other: the mask may name it, and what it wrote is ordered before nothing.
// EXPECT racecheck RAW warning
#include "main.cuh"

__global__ void previous(int *y)
{
	__shared__ int s[32];
	int t = threadIdx.x;
	s[t] = t; // OTHER
	if (WRONG(t == 0, false))
		return;
	__syncwarp();
	y[t] = s[(t + 31) % 32]; // BUG
}

int main()
{
	previous<<<1, 32>>>(empty<int>(32));
	return end();
}
