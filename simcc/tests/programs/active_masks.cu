// __activemask() in several arms of a branch: each is a place of its own, for whatever optimizer; and so is a
// function that asks, by the calls that led to it.
#include "check.cuh"

__device__ inline int count_active(int *counter)
{
	const unsigned active = __activemask();
	const int lane = threadIdx.x % 32, leader = __ffs(active) - 1;
	int first = 0;

	if (lane == leader)
		first = atomicAdd(counter, __popc(active));
	return __shfl_sync(active, first, leader) + __popc(active & ((1u << lane) - 1));
}

template <typename T>
__device__ T count_through(int *counter, T unused)
{
	return count_active(counter) + unused;
}

struct counters {
	int *first;
	__device__ int count(int which) const { return count_through<int>(first + which, 0); }
};

__global__ void more_arms(unsigned *mask)
{
	const int t = threadIdx.x;
	unsigned active = 0;

	switch (t / 8) {
	case 0: active = __activemask(); break;
	case 1: active = t < 10 ? __activemask() : __activemask(); break;
	default: active = __activemask();
	}
	mask[t] = active;
}

// One place in both of the loops that an optimizer may make of this one.
__global__ void one_place(unsigned *mask, bool more)
{
	const int t = threadIdx.x;
	unsigned active = 0;
	float sum = 0;

	for (int i = 0; i < 8; i++) {
		if (t % 2 != 0 && more)
			sum += i;
		active |= ~__activemask();
	}
	mask[t] = ~active + (sum < 0);
}

__global__ void functions_of_functions(int *counter, int *rank)
{
	const int t = threadIdx.x;
	const counters all = {counter};

	if (t % 3 == 0)
		rank[t] = all.count(2);
	else if (t % 3 == 1)
		rank[t] = counters{counter}.count(3);
	else
		rank[t] = (&all)->count(4);
}

int main()
{
	unsigned *dm = device_zeros<unsigned>(32);
	int counted[5], rank[32];
	int *dc = device_zeros<int>(5), *dr = device_zeros<int>(32);

	//= more_arms ANY
	more_arms<<<1, 32>>>(dm);
	EXPECT_EACH(dm, 32, t, t < 8 ? 0xffu : t < 10 ? 0x300u : t < 16 ? 0xfc00u : 0xffff0000u);
	//= one_place ANY
	one_place<<<1, 32>>>(dm, true);
	EXPECT_EACH(dm, 32, t, 0xffffffffu);
	//= functions_of_functions ANY
	functions_of_functions<<<1, 32>>>(dc, dr);
	fetch(counted, dc, 5);
	fetch(rank, dr, 32);
	EXPECT(counted[2] == 11 && counted[3] == 11 && counted[4] == 10);
	for (int t = 0; t < 32; t++)
		EXPECT(rank[t] == t / 3);
	return 0;
}
