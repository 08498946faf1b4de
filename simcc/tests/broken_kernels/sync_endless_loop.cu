// A loop whose step becomes 0.
// EXPECT synccheck endless_loop error
// SLOW
#include "main.cuh"

__global__ void sum(int *y, int step)
{
	int n = 0;
	for (int i = 0; i < 100; i += step) // BUG
		n += i;                     // BUG
	y[threadIdx.x] = n;
}

MAIN(sum<<<1, 32>>>(empty<int>(32), WRONG(0, 1)))
