// Atomics of each kind and type. 64 threads on one word: a request for each of the two warps, whose lanes take turns, 32
// sectors. (In shared memory: oracle.cu.)
#include <cstring>

#include "check.cuh"

// The same for the device and for the scope of a block.
#define OF_SCOPE(atomic, ...) (of_block ? atomic##_block(__VA_ARGS__) : atomic(__VA_ARGS__))

__global__ void ints(int *a, bool of_block)
{
	int t = threadIdx.x;
	OF_SCOPE(atomicAdd, &a[0], 2);
	OF_SCOPE(atomicSub, &a[1], 3);
	OF_SCOPE(atomicMax, &a[2], t - 10);
	OF_SCOPE(atomicMin, &a[3], t - 10);
	OF_SCOPE(atomicAnd, &a[4], ~(1 << t % 16));
	OF_SCOPE(atomicOr, &a[5], 1 << t % 16);
	OF_SCOPE(atomicXor, &a[6], 1 << t % 31);
	OF_SCOPE(atomicExch, &a[7], 5);
	OF_SCOPE(atomicCAS, &a[8], t == 0 ? 0 : 1000, 77);
}

__global__ void unsigneds(unsigned *a, bool of_block)
{
	unsigned t = threadIdx.x;
	OF_SCOPE(atomicAdd, &a[0], 0xffffffffu);
	OF_SCOPE(atomicSub, &a[1], 1u);
	OF_SCOPE(atomicMax, &a[2], 0x7ffffff0u + t); // half of them have the sign's bit
	OF_SCOPE(atomicMin, &a[3], 0x7ffffff0u + t);
	OF_SCOPE(atomicInc, &a[4], 9u);
	OF_SCOPE(atomicDec, &a[5], 9u);
	OF_SCOPE(atomicAnd, &a[6], ~(1u << t % 32));
	OF_SCOPE(atomicOr, &a[7], 1u << t % 32);
	OF_SCOPE(atomicXor, &a[8], 1u);
	OF_SCOPE(atomicExch, &a[9], 9u);
	OF_SCOPE(atomicCAS, &a[10], 0u, 1u);
}

__global__ void wide(unsigned long long *a, bool of_block)
{
	unsigned long long t = threadIdx.x;
	OF_SCOPE(atomicAdd, &a[0], 1ull << 33);
	OF_SCOPE(atomicMax, &a[1], t << 40);
	OF_SCOPE(atomicMin, &a[2], t + 5);
	OF_SCOPE(atomicAnd, &a[3], ~(1ull << t));
	OF_SCOPE(atomicOr, &a[4], 1ull << t);
	OF_SCOPE(atomicXor, &a[5], 1ull << t);
	OF_SCOPE(atomicExch, &a[6], 42ull);
	OF_SCOPE(atomicCAS, &a[7], 0ull, 7ull);
}

__global__ void wide_signed(long long *a, bool of_block)
{
	OF_SCOPE(atomicMax, &a[0], 10ll - (long long)threadIdx.x);
	OF_SCOPE(atomicMin, &a[1], 10ll - (long long)threadIdx.x);
}

__global__ void reals(float *f, double *d, bool of_block)
{
	OF_SCOPE(atomicAdd, &f[0], 0.5f);
	OF_SCOPE(atomicExch, &f[1], 2.5f);
	OF_SCOPE(atomicAdd, &d[0], 0.25);
}

template <class T>
void expect_equal(const T *device, const T *other, int count)
{
	T a[16], b[16];
	fetch(a, device, count);
	fetch(b, other, count);
	EXPECT(memcmp(a, b, count * sizeof(T)) == 0);
}

int main()
{
	int a[16] = {0, 0, 0, 0, -1, 0, 0, 0, 0};
	unsigned u[16] = {0, 0, 0, 0xffffffffu, 25, 25, 0xffffffffu, 0, 0, 0, 0};
	unsigned long long w[8] = {0, 0, 1ull << 60, ~0ull, 0, 0, 0, 0};
	float f[2];
	double d;
	int *da = device_copy(a, 16);
	unsigned *du = device_copy(u, 16);
	unsigned long long *dw = device_copy(w, 8);
	float *df = device_zeros<float>(2);
	double *dd = device_zeros<double>(1);
	int *da_block = device_copy(a, 16);
	unsigned *du_block = device_copy(u, 16);
	unsigned long long *dw_block = device_copy(w, 8);
	float *df_block = device_zeros<float>(2);
	double *dd_block = device_zeros<double>(1);

	//= ints atomic=9*256/9*2/9*64 foot=36/36 tensor:alloc0=0/0/36/36
	ints<<<1, 64>>>(da, false);
	//= ints atomic=9*256/9*2/9*64 foot=36/36 tensor:alloc5=0/0/36/36
	ints<<<1, 64>>>(da_block, true);
	expect_equal(da, da_block, 9);
	fetch(a, da, 16);
	EXPECT(a[0] == 128 && a[1] == -192 && a[2] == 53 && a[3] == -10 && a[4] == ~0xffff && a[5] == 0xffff);
	EXPECT(a[6] == 3); // 64 = 2 * 31 + 2: bits 0 and 1 are turned three times, the others twice
	EXPECT(a[7] == 5 && a[8] == 77);
	//= unsigneds atomic=11*256/11*2/11*64 x2
	unsigneds<<<1, 64>>>(du, false);
	unsigneds<<<1, 64>>>(du_block, true);
	expect_equal(du, du_block, 11);
	fetch(u, du, 16);
	EXPECT(u[0] == 0u - 64 && u[1] == 0u - 64 && u[2] == 0x8000002f && u[3] == 0x7ffffff0);
	// 25 is above the limit, so u[4] becomes 0 and u[5] 9; 63 more go round in tens
	EXPECT(u[4] == 63 % 10 && u[5] == 6 && u[6] == 0 && u[7] == 0xffffffff && u[8] == 0 && u[9] == 9 &&
	       u[10] == 1);
	//= wide atomic=8*512/8*2/8*64 x2
	wide<<<1, 64>>>(dw, false);
	wide<<<1, 64>>>(dw_block, true);
	expect_equal(dw, dw_block, 8);
	fetch(w, dw, 8);
	EXPECT(w[0] == 64ull << 33 && w[1] == 63ull << 40 && w[2] == 5 && w[3] == 0 && w[4] == ~0ull &&
	       w[5] == ~0ull);
	EXPECT(w[6] == 42 && w[7] == 7);
	long long s[2] = {-99, 5};
	long long *ds = device_copy(s, 2), *ds_block = device_copy(s, 2);
	//= wide_signed atomic=2*512/2*2/2*64 x2
	wide_signed<<<1, 64>>>(ds, false);
	wide_signed<<<1, 64>>>(ds_block, true);
	expect_equal(ds, ds_block, 2);
	fetch(s, ds, 2);
	EXPECT(s[0] == 10 && s[1] == -53);
	//= reals atomic=256+256+512/6/3*64 x2
	reals<<<1, 64>>>(df, dd, false);
	reals<<<1, 64>>>(df_block, dd_block, true);
	expect_equal(df, df_block, 2);
	expect_equal(dd, dd_block, 1);
	fetch(f, df, 2);
	fetch(&d, dd, 1);
	EXPECT(f[0] == 32 && f[1] == 2.5f && d == 16);
	return 0;
}
