// Each half of the block has a lock of its own, and both guard one sum.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

__global__ void add(int *lock, int *sum)
{
	int half = threadIdx.x >= 64;
	if (threadIdx.x % 64 == 0) {
		while (atomicCAS(&lock[half], 0, 1) != 0)
			;
		__threadfence();
#ifdef FIXED
		sum[half] += 1;
#else
		sum[0] += 1; // BUG
#endif
		__threadfence();
		atomicExch(&lock[half], 0);
	}
}

int main()
{
	int *lock = zeros<int>(2), *sum = zeros<int>(2);
	add<<<4, 96>>>(lock, sum);
	return end();
}
