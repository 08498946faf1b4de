// A number of columns that is 0 reaches a remainder; and a kernel gives up where its argument is none that it takes.
// EXPECT memcheck division_by_zero|trap error x2
#include "main.cuh"

__global__ void fold(int *y, int columns)
{
	y[threadIdx.x] = threadIdx.x % columns; // BUG
}

__global__ void halves(int *y, int n)
{
	if (n % 2 != 0)
		__trap(); // BUG
	y[threadIdx.x] = n / 2;
}

int main()
{
	fold<<<1, 32>>>(zeros<int>(32), WRONG(0, 8));
	reset();
	halves<<<1, 32>>>(zeros<int>(32), WRONG(7, 8));
	return end();
}
