// EXPECT synccheck endless_loop error
// SLOW
#include <cstdio>

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
	int *lock, *y;
	cudaMalloc(&lock, sizeof(int));
	cudaMalloc(&y, sizeof(int));
	cudaMemset(lock, 0, sizeof(int));
	cudaMemset(y, 0, sizeof(int));
	critical<<<1, 128>>>(lock, y);
	cudaDeviceSynchronize();
	return 0;
}
