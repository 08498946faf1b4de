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

int main()
{
	int *y = empty<int>(32);
#ifdef FIXED
	sum<<<1, 32>>>(y, 1);
#else
	sum<<<1, 32>>>(y, 0);
#endif
	return end();
}
