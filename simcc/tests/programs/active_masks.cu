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

__global__ void two_arms(unsigned *mask)
{
	const int t = threadIdx.x;
	unsigned active;

	if (t % 4 == 0)
		active = __activemask();
	else
		active = __activemask();
	mask[t] = active;
}

template <int SPLIT>
__global__ void more_arms(unsigned *mask)
{
	const int t = threadIdx.x;
	unsigned active = 0;

	switch (t / SPLIT) {
	case 0: active = __activemask(); break;
	case 1: active = t < SPLIT + 2 ? __activemask() : __activemask(); break;
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

__global__ void functions(int *counter, int *rank)
{
	const int t = threadIdx.x;

	if (t < 10)
		rank[t] = count_active(counter);
	else
		rank[t] = count_active(counter + 1);
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

__global__ void lambdas(unsigned *mask)
{
	const int t = threadIdx.x;
	const auto ask = [&](unsigned bits) { return bits & __activemask(); };

	if (t < 20)
		mask[t] = ask(0xffffu);
	else
		mask[t] = ask(0x0fffffffu);
}

// Votes and shuffles say whom they mean; there it does not matter where they stand.
__global__ void named_lanes(unsigned *result)
{
	const int t = threadIdx.x;

	if (t < 10)
		result[t] = __ballot_sync(0x3ff, t & 1);
	else
		result[t] = __ballot_sync(0xfffffc00, t & 1);
	if (t < 16)
		result[t] += __shfl_sync(0xffff, t, 3);
	else
		result[t] += __shfl_sync(0xffff0000, t, 19);
	if (t & 1)
		__syncwarp(0xaaaaaaaa);
	else
		__syncwarp(0x55555555);
	result[t] += t & 1 ? __any_sync(0xaaaaaaaa, t == 31) : __all_sync(0x55555555, t < 31);
}

int main()
{
	unsigned *dm = device_zeros<unsigned>(32);
	int counted[5], rank[32];
	int *dc = device_zeros<int>(5), *dr = device_zeros<int>(32);

	//= two_arms ANY
	two_arms<<<1, 32>>>(dm);
	EXPECT_EACH(dm, 32, t, t % 4 == 0 ? 0x11111111u : 0xeeeeeeeeu);
	//= more_arms<8> ANY
	more_arms<8><<<1, 32>>>(dm);
	EXPECT_EACH(dm, 32, t, t < 8 ? 0xffu : t < 10 ? 0x300u : t < 16 ? 0xfc00u : 0xffff0000u);
	//= one_place ANY
	one_place<<<1, 32>>>(dm, true);
	EXPECT_EACH(dm, 32, t, 0xffffffffu);
	//= functions ANY
	functions<<<1, 32>>>(dc, dr);
	//= functions_of_functions ANY
	functions_of_functions<<<1, 32>>>(dc, dr);
	fetch(counted, dc, 5);
	fetch(rank, dr, 32);
	EXPECT(counted[0] == 10 && counted[1] == 22 && counted[2] == 11 && counted[3] == 11 && counted[4] == 10);
	for (int t = 0; t < 32; t++)
		EXPECT(rank[t] == t / 3);
	//= lambdas ANY
	lambdas<<<1, 32>>>(dm);
	EXPECT_EACH(dm, 32, t, t < 20 ? 0xffffu : 0x0ff00000u);
	//= named_lanes ANY
	named_lanes<<<1, 32>>>(dm);
	EXPECT_EACH(dm, 32, t, (t < 10 ? 0x2aau : 0xaaaaa800u) + (t < 16 ? 3 : 19) + 1);
	return 0;
}
