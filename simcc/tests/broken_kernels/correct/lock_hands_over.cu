// The second thread reads the data only where the first one has said, inside its turn of the lock, that they are there: the
// turns cannot come the other way round, and the first thread needs no fence after it took the lock. Kills a checker that
// judges the other order of all turns.
#include "../main.cuh"

__device__ void enter(int *lock)
{
	while (atomicCAS(lock, 0, 1) != 0)
		;
}

__device__ void leave(int *lock)
{
	__threadfence();
	atomicExch(lock, 0);
}

template <bool IS_ATOMIC>
__global__ void hand_over(int *lock, int *data, volatile int *ready, int *y)
{
	if (threadIdx.x == 0) {
		enter(lock);
		data[0] = 42;
		__threadfence();
		if (IS_ATOMIC)
			atomicAdd((int *)ready, 1);
		else
			ready[0] = 1;
		atomicExch(lock, 0);
	} else if (threadIdx.x == 32) {
		for (bool done = false; !done;) {
			enter(lock);
			__threadfence();
			if (IS_ATOMIC ? atomicAdd((int *)ready, 0) : ready[0]) {
				y[0] = data[0];
				done = true;
			}
			leave(lock);
			__nanosleep(100);
		}
	}
}

int main()
{
	int *lock = zeros<int>(1), *data = zeros<int>(1), *ready = zeros<int>(2), *y = zeros<int>(1);
	hand_over<true><<<1, 64>>>(lock, data, ready, y);
	hand_over<false><<<1, 64>>>(lock, data, ready + 1, y);
	return end();
}
