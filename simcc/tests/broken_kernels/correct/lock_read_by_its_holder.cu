// A thread looks at its lock while it holds it, or writes what is there already: it holds it still, and the fence before it
// gives it back comes in time. Kills a checker that takes each atomic and each volatile store for the giving back.
#include "../main.cuh"

__device__ void enter(int *lock)
{
	while (atomicCAS(lock, 0, 1) != 0)
		;
	__threadfence();
}

__device__ void leave(int *lock)
{
	__threadfence();
	atomicExch(lock, 0);
}

__global__ void hold(int *lock, int *x)
{
	if (threadIdx.x % 32 != 0)
		return;
	enter(lock);
	x[0] += 1;
	if (atomicAdd(lock, 0) != 1 || atomicMax(lock, 1) != 1)
		x[1] = 7;
	leave(lock);
	enter(lock);
	int seen = x[2];
	*(volatile int *)lock = 1;
	__threadfence();
	x[2] = seen + 1;
	leave(lock);
	enter(lock);
	x[4] += 1; // no fence is due before the lock is given back
	atomicOr(lock, 2);
	leave(lock);
	enter(lock);
	seen = x[3];
	atomicOr(lock, 2); // another value, and not the one of a free lock
	*(volatile int *)lock = 4;
	__threadfence();
	x[3] = seen + 1;
	leave(lock);
}

MAIN(hold<<<2, 64>>>(zeros<int>(1), zeros<int>(5)))
