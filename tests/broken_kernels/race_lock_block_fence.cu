// __threadfence_block() orders for threads of one block, but the lock is taken by several.
// EXPECT racecheck RAW|WAW|WAR error
#include <cstdio>

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
	int *lock, *sum;
	cudaMalloc(&lock, 2 * sizeof(int));
	cudaMalloc(&sum, 2 * sizeof(int));
	cudaMemset(lock, 0, 2 * sizeof(int));
	cudaMemset(sum, 0, 2 * sizeof(int));
	add<<<4, 96>>>(lock, sum);
	cudaDeviceSynchronize();
	return 0;
}
