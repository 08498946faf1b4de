// A kernel gives up where its argument is none that it takes.
// EXPECT memcheck trap error
#include "main.cuh"

__global__ void halves(int *y, int n)
{
	if (n % 2 != 0)
		__trap(); // BUG
	y[threadIdx.x] = n / 2;
}

int main()
{
#ifdef FIXED
	halves<<<1, 32>>>(zeros<int>(32), 8);
#else
	halves<<<1, 32>>>(zeros<int>(32), 7);
#endif
	return end();
}
