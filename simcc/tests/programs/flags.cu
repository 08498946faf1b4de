//! order: a thread that waits for another counts a look for each turn it is given
//! not fast: without counters nothing interrupts a thread that only looks
// Warps that hand work to and fro through a flag in memory.
#include "check.cuh"

// Warp 1 waits for what warp 0 hands over, and the other way round.
__global__ void ping_pong(volatile int *flag, volatile int *log, int rounds)
{
	int warp = threadIdx.x / 32;
	if (threadIdx.x % 32 != 0)
		return;
	for (int i = 0; i < rounds; i++) {
		while (*flag != 2 * i + warp)
			;
		log[2 * i + warp] = 10 * i + warp;
		__threadfence();
		*flag = 2 * i + warp + 1;
	}
}

int main()
{
	int *flag = device_zeros<int>(1), *dlog = device_zeros<int>(40);

	//= ping_pong ANY
	ping_pong<<<1, 64>>>(flag, dlog, 20);
	EXPECT_EACH(dlog, 40, i, 10 * (i / 2) + i % 2);
	return 0;
}
