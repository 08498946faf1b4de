// EXPECT synccheck endless_loop error
// SLOW
#include "main.cuh"

__global__ void critical(int *lock, int *y)
{
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(lock, 0, 1) != 0) // BUG
			;
		__threadfence();
		*y += 1;
		__threadfence();
#ifdef FIXED
		atomicExch(lock, 0);
#endif
	}
}

int main()
{
	int *lock = zeros<int>(1), *y = zeros<int>(1);
	critical<<<1, 128>>>(lock, y);
	return end();
}
