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

int main()
{
	unsigned *mask = device_zeros<unsigned>(32);
	int *counter = device_zeros<int>(3), *rank = device_zeros<int>(32);

	//= each ANY
	each<<<1, 32>>>([=] __device__(int t) {
		unsigned active = 0;
		switch (t / 8) {
		case 0: active = __activemask(); break;
		case 1: active = t < 10 ? __activemask() : __activemask(); break;
		default: active = __activemask();
		}
		mask[t] = active;
	});
	EXPECT_EACH(mask, 32, t, t < 8 ? 0xffu : t < 10 ? 0x300u : t < 16 ? 0xfc00u : 0xffff0000u);
	// One place in both of the loops that an optimizer may make of this one.
	//= each ANY
	each<<<1, 32>>>([=, more = true] __device__(int t) {
		unsigned active = 0;
		float sum = 0;
		for (int i = 0; i < 8; i++) {
			if (t % 2 != 0 && more)
				sum += i;
			active |= ~__activemask();
		}
		mask[t] = ~active + (sum < 0);
	});
	EXPECT_EACH(mask, 32, t, 0xffffffffu);
	//= each ANY
	each<<<1, 32>>>([=] __device__(int t) {
		const counters all = {counter};
		rank[t] = t % 3 == 0 ? all.count(0) : t % 3 == 1 ? counters{counter}.count(1) : (&all)->count(2);
	});
	EXPECT_EACH(counter, 3, i, i < 2 ? 11 : 10);
	EXPECT_EACH(rank, 32, t, t / 3);
	return 0;
}
