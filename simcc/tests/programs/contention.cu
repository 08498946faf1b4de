//! order: threads that contend count a try for each turn they are given
// Threads that wait for other threads by looking, in one warp, between warps and between blocks. They must end whatever
// the order in which threads run. (Other locks, and compare-and-swap: ../broken_kernels/correct.)
#include "check.cuh"

__device__ int lock;

// What the lock protects is long: its owner is interrupted in the middle of it, and the others find it taken.
__global__ void counter(volatile int *total, volatile float *scratch, int length)
{
	while (atomicCAS(&lock, 0, 1) != 0)
		;
	__threadfence();
	int before = *total;
	for (int i = 0; i < length; i++)
		scratch[0] = (float)i;
	*total = before + 1;
	__threadfence();
	atomicExch(&lock, 0);
}

// A thread that waits with atomics for a later one. A plain build gives turns only there, now and then.
__global__ void wait_for_the_last(int *arrived, int *seen)
{
	if (threadIdx.x == blockDim.x - 1)
		atomicExch(arrived, 1);
	while (atomicAdd(arrived, 0) == 0)
		;
	seen[threadIdx.x] = atomicAdd(arrived, 0);
}

int main()
{
	int *total = device_zeros<int>(1), *arrived = device_zeros<int>(1), *seen = device_zeros<int>(96);

	//= counter ANY
	counter<<<4, 64>>>(total, device_zeros<float>(1), 100);
	EXPECT(element(total, 0) == 256);
	//= wait_for_the_last ANY
	wait_for_the_last<<<1, 96>>>(arrived, seen);
	EXPECT_EACH(seen, 96, i, 1);
	return 0;
}
