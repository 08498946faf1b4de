// A kernel gives up where its argument is none that it takes.
// EXPECT memcheck trap error
#include "main.cuh"

__global__ void halves(int *y, int n)
{
	if (n % 2 != 0)
		__trap(); // BUG
	y[threadIdx.x] = n / 2;
}

MAIN(halves<<<1, 32>>>(zeros<int>(32), WRONG(7, 8)))
