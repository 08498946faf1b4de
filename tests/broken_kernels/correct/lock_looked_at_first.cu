// A lock that is only tried when it looks free, and is given back by a volatile store. One lane takes it for its
// warp.
#include <cstdio>

__device__ void acquire(int *lock)
{
	do
		while (*(volatile int *)lock != 0)
			;
	while (atomicCAS(lock, 0, 1) != 0);
	__threadfence();
}

__device__ void release(int *lock)
{
	__threadfence();
	*(volatile int *)lock = 0;
}

__global__ void add(int *lock, double2 *sum, int *history, int *length)
{
	int lane = threadIdx.x % 32;
	for (int round = 0; round < 3; round++) {
		if (lane == 0)
			acquire(lock);
		__syncwarp();
		if (lane < 2)
			sum[lane].x += 1, sum[lane].y += lane;
		if (lane == 3)
			history[(*length)++] = blockIdx.x;
		__syncwarp();
		if (lane == 0)
			release(lock);
	}
}

int main()
{
	int *lock, *history, *length;
	double2 *sum, total[2];
	cudaMalloc(&lock, sizeof(int));
	cudaMalloc(&length, sizeof(int));
	cudaMalloc(&history, 100 * sizeof(int));
	cudaMalloc(&sum, sizeof total);
	cudaMemset(lock, 0, sizeof(int));
	cudaMemset(length, 0, sizeof(int));
	cudaMemset(sum, 0, sizeof total);
	add<<<4, 96>>>(lock, sum, history, length);
	cudaMemcpy(total, sum, sizeof total, cudaMemcpyDeviceToHost);
	cudaFree(lock), cudaFree(length), cudaFree(history), cudaFree(sum);
	return total[1].y != 36;
}
