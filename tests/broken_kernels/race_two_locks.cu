// Each half of the block has a lock of its own, and both guard one sum.
// EXPECT racecheck RAW|WAW|WAR error
#include <cstdio>

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
	int *lock, *sum;
	cudaMalloc(&lock, 2 * sizeof(int));
	cudaMalloc(&sum, 2 * sizeof(int));
	cudaMemset(lock, 0, 2 * sizeof(int));
	cudaMemset(sum, 0, 2 * sizeof(int));
	add<<<4, 96>>>(lock, sum);
	cudaDeviceSynchronize();
	return 0;
}
