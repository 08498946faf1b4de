// Warps of several blocks add to a sum under a lock, and each launch does one thing wrong.
// EXPECT racecheck RAW|WAW|WAR error x7
// ORDERS all
#include "main.cuh"

enum bug {
	NONE,
	FENCE_BEFORE,       // the lock is taken, where it orders nothing that the last holder wrote
	NO_FENCE_AFTER,     // it is taken: what the last holder wrote need not be visible yet
	BLOCK_FENCES,       // order for threads of one block
	BLOCK_SCOPE,        // two blocks can hold the lock at once
	FENCE_AFTER_UNLOCK, // the next holder may read before the sum is there
	WRITE_AFTER_UNLOCK,
	TWO_LOCKS, // one for each half of the block, and both guard one sum
};

template <bug B>
__device__ void fence()
{
	B == BLOCK_FENCES ? __threadfence_block() : __threadfence();
}

template <bug B>
__global__ void add(int *locks, int *sum)
{
	int *lock = &locks[B == TWO_LOCKS && threadIdx.x >= 64];
	if (threadIdx.x % 32 != 0)
		return;
	if (B == FENCE_BEFORE)
		fence<B>();
	while ((B == BLOCK_SCOPE ? atomicCAS_block(lock, 0, 1) : atomicCAS(lock, 0, 1)) != 0) // ALSO
		;
	if (B != FENCE_BEFORE && B != NO_FENCE_AFTER)
		fence<B>();
	sum[0] += 1; // BUG
	if (B != FENCE_AFTER_UNLOCK)
		fence<B>();
	B == BLOCK_SCOPE ? atomicExch_block(lock, 0) : atomicExch(lock, 0); // ALSO
	if (B == FENCE_AFTER_UNLOCK)
		fence<B>();
	if (B == WRITE_AFTER_UNLOCK)
		sum[0] += 1; // BUG
}

template <bug... B>
void launch()
{
	int *locks = zeros<int>(2), *sum = zeros<int>(1);
	(add<B><<<4, 96>>>(locks, sum), ...);
}

MAIN(
	WRONG((launch<FENCE_BEFORE, NO_FENCE_AFTER, BLOCK_FENCES, BLOCK_SCOPE, FENCE_AFTER_UNLOCK, WRITE_AFTER_UNLOCK,
                      TWO_LOCKS>()),
              launch<NONE>()))
