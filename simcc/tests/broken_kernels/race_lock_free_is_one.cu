// A lock that is 1 where it is free, and one that holds its owner's number: one thread takes it without a fence after it.
// Kills a checker for which a free lock is 0, or for which two threads have to write the same into it.
// EXPECT racecheck WAW|RAW|WAR error
// ORDERS all
#include "main.cuh"

template <int FREE, bool IS_OWNER>
__global__ void set(int *lock, volatile int *x)
{
	const int taken = IS_OWNER ? threadIdx.x : 0;
	if (threadIdx.x % 32 != 0)
		return;
	while (atomicCAS(lock, FREE, taken) != FREE)
		;
	if (WRONG(threadIdx.x != 0, true))
		__threadfence();
	x[0] = threadIdx.x; // BUG
	__threadfence();
	atomicExch(lock, FREE);
}

int main()
{
	const int free_is_one[] = {1}, nobody[] = {-1};
	int *lock = copy_of(free_is_one), *owner = copy_of(nobody), *x = zeros<int>(2);
	set<1, false><<<1, 64>>>(lock, x);
	set<-1, true><<<1, 64>>>(owner, x + 1);
	return end();
}
