// Branches, loops of unequal length, early exits: the k-th time a lane executes an access belongs to the k-th time
// its neighbors do, whatever they did in between.
#include "check.cuh"

// What is behind a branch is one access again.
__global__ void rejoin(const float *x, float *y)
{
	int i = threadIdx.x;
	float v = 0;
	if (i >= 24)
		for (int k = 0; k < 5; k++)
			v += x[k];
	v += x[i];
	y[i] = v;
}

// A part of the warp shuffles while the rest goes on; the store is everybody's.
__global__ void shuffle_in_branch(const float *x, float *y)
{
	int i = threadIdx.x;
	float v = x[i];
	if (i < 16)
		v += __shfl_xor_sync(0xffff, v, 8);
	y[i] = v;
}

template <int PLACES>
__device__ float places(const float *x)
{
	return x[8 * PLACES] + places<PLACES - 1>(x);
}
template <>
__device__ float places<0>(const float *)
{
	return 0;
}

// 90 places of the source and calls to them: more than what is kept of a warp has room for at first.
__global__ void many_places(const float *x, float *y)
{
	int i = threadIdx.x;
	float sum = 0;
	for (int round = 0; round < 2; round++)
		sum += i % 2 ? places<50>(x + i) : places<40>(x + i);
	y[i] = sum;
}

__global__ void one_long_lane(const float *x, float *y, int n)
{
	int i = threadIdx.x;
	float sum = 0;
	for (int k = 0; k < (i == 5 ? n : 1); k++)
		sum += x[i];
	y[i] = sum;
}

__global__ void triangle_with_barriers(const float *x, float *y, int rounds, int scale)
{
	int i = threadIdx.x;
	float sum = 0;
	for (int r = 0; r < rounds; r++) {
		for (int k = 0; k < scale * (i + 1); k++)
			sum += x[i];
		__syncthreads();
	}
	y[i] = sum;
}

// Occurrences begin anew behind a barrier: what lanes 0-15 did before it does not meet what 16-31 do behind it.
template <bool Barrier>
__global__ void halves(const float *x, float *y)
{
	int i = threadIdx.x;
	float sum = 0;
	for (int r = 0; r < 2; r++) {
		if (i / 16 == r)
			sum += x[i];
		if (Barrier)
			__syncthreads();
	}
	y[i] = sum;
}

// The same with a whole warp's shuffle between.
__global__ void halves_and_shuffles(const float *x, float *y)
{
	int i = threadIdx.x;
	float sum = 0;
	for (int r = 0; r < 2; r++) {
		if (i / 16 == r)
			sum += x[i];
		sum = __shfl_xor_sync(0xffffffff, sum, 0);
	}
	y[i] = sum;
}

// And with a lane that has left: it does not change what meets what.
__global__ void halves_without_one(const float *x, float *y)
{
	int i = threadIdx.x;
	float sum = x[i];
	if (i == 31)
		return;
	for (int r = 0; r < 2; r++) {
		if (i / 16 == r)
			sum += x[i];
		sum = __shfl_xor_sync(0x7fffffff, sum, 0);
	}
	y[i] = sum;
}

// Half warps that go their own ways and meet among themselves, and threads that leave on the way: test_same.py
// wants the same counts whoever runs first.
__global__ void half_warps(const float *x, float *y)
{
	unsigned i = threadIdx.x, half = i % 32 / 16, seed = 12345 * i + 7;
	float sum = 0;
	for (int r = 0; r < 9; r++) {
		seed = seed * 1664525u + 1013904223u;
		if ((seed >> 24) % 3)
			sum += x[(seed >> 16) % 64];
		if (half == 1 && r == 5 && i % 16 > 11)
			return;
		if ((r + half) % 2)
			sum += x[r];
		__syncwarp(half == 0 ? 0xffff : r < 5 ? 0xffff0000 : 0x0fff0000);
	}
	y[i] = sum;
}

__global__ void exits(const float *x, float *y)
{
	int i = threadIdx.x;
	if (i == 3 || i == 17)
		return;
	float v = x[i];
	if (i > 20)
		return;
	y[i] = v;
}

int main()
{
	float x[64];
	for (int i = 0; i < 64; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 64), *dy = device_zeros<float>(32);

	//= rejoin load=5*32+128/6/5+4 store=128/1/4
	rejoin<<<1, 32>>>(dx, dy);
	//= shuffle_in_branch load=128/1/4 store=128/1/4
	shuffle_in_branch<<<1, 32>>>(dx, dy);

	// longer than any window of records
	//= one_long_lane load=4*31+40000/10000/4+9999 store=128/1/4
	one_long_lane<<<1, 32>>>(dx, dy, 10000);
	EXPECT(element(dy, 5) == 50000 && element(dy, 6) == 6);
	// lane i goes round i + 1 times: 32 * 33 / 2 loads; k-th time: lanes k to 31, 4 sectors for k < 8, then 3, 2,
	// 1
	//= triangle_with_barriers load=3*4*528/3*32/3*8*10 store=128/1/4 barriers=3
	triangle_with_barriers<<<1, 32>>>(dx, dy, 3, 1);
	//= triangle_with_barriers load=3*4*100*528/3*3200/3*100*8*10 store=128/1/4 barriers=3
	triangle_with_barriers<<<1, 32>>>(dx, dy, 3, 100);
	EXPECT(element(dy, 2) == 3 * 300 * 2);

	//= halves<false> load=128/1/4 store=128/1/4
	halves<false><<<1, 32>>>(dx, dy);
	//= halves<true> load=128/2/4 store=128/1/4 barriers=2
	halves<true><<<1, 32>>>(dx, dy);
	//= halves_and_shuffles load=128/2/4 store=128/1/4
	halves_and_shuffles<<<1, 32>>>(dx, dy);

	//= halves_without_one load=128+64+60/3/4+2+2 store=124/1/4
	halves_without_one<<<1, 32>>>(dx, dy);

	//= half_warps ANY
	half_warps<<<1, 64>>>(dx, device_zeros<float>(64));

	// 30 lanes load, 0 to 20 but 3 and 17 store
	//= exits load=120/1/4 store=76/1/3
	exits<<<1, 32>>>(dx, dy);

	// twice 50 of the odd and 40 of the even lanes, in 4 sectors each
	//= many_places load=2*64*90/2*90/4*2*90 store=128/1/4
	many_places<<<1, 32>>>(device_zeros<float>(512), dy);
	return 0;
}
