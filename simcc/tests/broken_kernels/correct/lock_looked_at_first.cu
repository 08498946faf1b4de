// A lock that is only tried when it looks free, and is given back by a volatile store. One lane takes it for its
// warp.
#include "../main.cuh"

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
	double2 *sum = zeros<double2>(2);
	add<<<4, 96>>>(zeros<int>(1), sum, empty<int>(100), zeros<int>(1));
	return element(sum, 1).y != 36 || end();
}
