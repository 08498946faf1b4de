//! order: a thread that waits for another counts a look for each turn it is given
// A thread that waits with atomics for a later one. A plain build gives turns only there, now and then.
#include "check.cuh"

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
	int *arrived = device_zeros<int>(1), *seen = device_zeros<int>(96);

	//= wait_for_the_last ANY
	wait_for_the_last<<<1, 96>>>(arrived, seen);
	EXPECT_EACH(seen, 96, i, 1);
	return 0;
}
