// Two threads take a lock, and one of them does something wrong. Where the other one comes first, or nobody comes
// after it, the lock's order hides that: the turn of the other one must be looked at, too. Kills a checker that knows
// only the order it ran; that takes any fence for one of the device; for which a free lock is 0; or for which two
// threads have to write the same into it.
// EXPECT racecheck WAW|RAW|WAR error x5
// ORDERS all
#include "main.cuh"

enum bug {
	ENTERED_UNFENCED,
	ENTERED_WITH_A_BLOCK_FENCE,
	LEFT_UNFENCED,
	FREE_IS_ONE,     // and entered without a fence
	IS_OWNER_NUMBER, // the same
};

template <bug B>
__global__ void set(int *lock, volatile int *x)
{
	const int who = blockIdx.x + threadIdx.x / 32;
	const int free = B == FREE_IS_ONE ? 1 : B == IS_OWNER_NUMBER ? -1 : 0;
	const int taken = B == FREE_IS_ONE ? 0 : B == IS_OWNER_NUMBER ? who : 1;
	if (threadIdx.x % 32 != 0)
		return;
	while (atomicCAS(lock, free, taken) != free)
		;
	if (WRONG(B == ENTERED_WITH_A_BLOCK_FENCE && who == 0, false))
		__threadfence_block();
	else if (WRONG(B == LEFT_UNFENCED || who != 0, true))
		__threadfence();
	x[0] = who; // BUG
	if (WRONG(B != LEFT_UNFENCED || who != 0, true))
		__threadfence();
	atomicExch(lock, free);
}

int main()
{
	const int words[] = {0, 1, -1};
	int *lock = copy_of(words), *x = zeros<int>(3);
	set<ENTERED_UNFENCED><<<1, 64>>>(lock, x);
	set<ENTERED_WITH_A_BLOCK_FENCE><<<2, 1>>>(lock, x);
	set<LEFT_UNFENCED><<<1, 64>>>(lock, x);
	set<FREE_IS_ONE><<<1, 64>>>(lock + 1, x + 1);
	set<IS_OWNER_NUMBER><<<1, 64>>>(lock + 2, x + 2);
	return end();
}
