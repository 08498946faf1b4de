// __threadfence_block() orders for threads of one block, but the lock is taken by several.
// EXPECT racecheck RAW|WAW|WAR error
#include "main.cuh"

#ifdef FIXED
#define fence __threadfence
#else
#define fence __threadfence_block
#endif

__global__ void add(int *lock, int *sum)
{
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		fence();
		sum[0] += 1; // BUG
		fence();
		atomicExch(lock, 0);
	}
}

int main()
{
	int *lock = zeros<int>(2), *sum = zeros<int>(2);
	add<<<4, 96>>>(lock, sum);
	return end();
}
