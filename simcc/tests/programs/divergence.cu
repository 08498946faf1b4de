// Branches, loops of unequal length, early exits: the k-th time a lane executes an access belongs to the k-th time
// its neighbors do, whatever they did in between. (More of it is drawn: oracle.cu.)
#include "check.cuh"

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

// Occurrences begin anew behind a barrier: what lanes 0-15 did before it does not meet what 16-31 do behind it; nor
// behind a whole warp's shuffle, also where a lane has left.
enum between { NOTHING, BARRIER, SHUFFLE, SHUFFLE_WITHOUT_ONE };
template <between WHAT>
__global__ void halves(const float *x, float *y)
{
	int i = threadIdx.x;
	float sum = 0;
	if (WHAT == SHUFFLE_WITHOUT_ONE && i == 31)
		return;
	for (int r = 0; r < 2; r++) {
		if (i / 16 == r)
			sum += x[i];
		if (WHAT == BARRIER)
			__syncthreads();
		if (WHAT == SHUFFLE || WHAT == SHUFFLE_WITHOUT_ONE)
			sum = __shfl_xor_sync(WHAT == SHUFFLE ? 0xffffffff : 0x7fffffff, sum, 0);
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

int main()
{
	float x[64];
	for (int i = 0; i < 64; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 64), *dy = device_zeros<float>(64);

	// A part of the warp shuffles while the rest goes on; the store is everybody's.
	//= each load=128/1/4 store=128/1/4
	each<<<1, 32>>>([=] __device__(int i) {
		float v = dx[i];
		if (i < 16)
			v += __shfl_xor_sync(0xffff, v, 8);
		dy[i] = v;
	});
	// longer than any window of records
	//= each load=4*31+40000/10000/4+9999 store=128/1/4
	each<<<1, 32>>>([=] __device__(int i) {
		float sum = 0;
		for (int k = 0; k < (i == 5 ? 10000 : 1); k++)
			sum += dx[i];
		dy[i] = sum;
	});
	EXPECT(element(dy, 5) == 50000 && element(dy, 6) == 6);
	// lane i goes round i + 1 times: 32 * 33 / 2 loads; k-th time: lanes k to 31, 4 sectors for k < 8, then 3, 2, 1
	//= each load=3*4*528/3*32/3*8*10 store=128/1/4 barriers=3
	//= each load=3*4*100*528/3*3200/3*100*8*10 store=128/1/4 barriers=3
	for (int scale : {1, 100})
		each<<<1, 32>>>([=] __device__(int i) {
			float sum = 0;
			for (int r = 0; r < 3; r++) {
				for (int k = 0; k < scale * (i + 1); k++)
					sum += dx[i];
				__syncthreads();
			}
			dy[i] = sum;
		});
	EXPECT(element(dy, 2) == 3 * 300 * 2);

	//= halves<(between)0> load=128/1/4 store=128/1/4
	halves<NOTHING><<<1, 32>>>(dx, dy);
	//= halves<(between)1> load=128/2/4 store=128/1/4 barriers=2
	halves<BARRIER><<<1, 32>>>(dx, dy);
	//= halves<(between)2> load=128/2/4 store=128/1/4
	halves<SHUFFLE><<<1, 32>>>(dx, dy);
	//= halves<(between)3> load=64+60/2/2+2 store=124/1/4
	halves<SHUFFLE_WITHOUT_ONE><<<1, 32>>>(dx, dy);
	//= half_warps ANY
	half_warps<<<1, 64>>>(dx, dy);

	// 30 lanes load, 0 to 20 but 3 and 17 store
	//= each load=120/1/4 store=76/1/3
	each<<<1, 32>>>([=] __device__(int i) {
		if (i == 3 || i == 17)
			return;
		float v = dx[i];
		if (i > 20)
			return;
		dy[i] = v;
	});
	// 90 places of the source and calls to them: more than what is kept of a warp has room for at first. Twice 50 of the
	// odd and 40 of the even lanes, in 4 sectors each.
	//= each load=2*64*90/2*90/4*2*90 store=128/1/4
	each<<<1, 32>>>([=, of = device_zeros<float>(512)] __device__(int i) {
		float sum = 0;
		for (int round = 0; round < 2; round++)
			sum += i % 2 ? places<50>(of + i) : places<40>(of + i);
		dy[i] = sum;
	});
	return 0;
}
