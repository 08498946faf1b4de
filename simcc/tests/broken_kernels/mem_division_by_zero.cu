// A number of columns that is 0 reaches a remainder.
// EXPECT memcheck division_by_zero error
#include "main.cuh"

__global__ void fold(int *y, int columns)
{
	y[threadIdx.x] = threadIdx.x % columns; // BUG
}

MAIN(fold<<<1, 32>>>(zeros<int>(32), WRONG(0, 8)))
