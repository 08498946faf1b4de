// Atomics of each kind and type, in global and in shared memory. 64 threads on one word: a request of one sector, or
// of one wavefront, for each of the two warps.
#include "check.cuh"

__global__ void ints(int *a)
{
	int t = threadIdx.x;
	atomicAdd(&a[0], 2);
	atomicSub(&a[1], 3);
	atomicMax(&a[2], t - 10);
	atomicMin(&a[3], t - 10);
	atomicAnd(&a[4], ~(1 << t % 16));
	atomicOr(&a[5], 1 << t % 16);
	atomicXor(&a[6], 1 << t % 31);
	atomicExch(&a[7], 5);
	atomicCAS(&a[8], t == 0 ? 0 : 1000, 77);
}

__global__ void unsigneds(unsigned *a)
{
	unsigned t = threadIdx.x;
	atomicAdd(&a[0], 0xffffffffu);
	atomicSub(&a[1], 1u);
	atomicMax(&a[2], 0x7ffffff0u + t); // half of them have the sign's bit
	atomicMin(&a[3], 0x7ffffff0u + t);
	atomicInc(&a[4], 9u);
	atomicDec(&a[5], 9u);
	atomicAnd(&a[6], ~(1u << t % 32));
	atomicOr(&a[7], 1u << t % 32);
	atomicXor(&a[8], 1u);
	atomicExch(&a[9], 9u);
	atomicCAS(&a[10], 0u, 1u);
}

__global__ void wide(unsigned long long *a)
{
	unsigned long long t = threadIdx.x;
	atomicAdd(&a[0], 1ull << 33);
	atomicMax(&a[1], t << 40);
	atomicMin(&a[2], t + 5);
	atomicAnd(&a[3], ~(1ull << t));
	atomicOr(&a[4], 1ull << t);
	atomicXor(&a[5], 1ull << t);
	atomicExch(&a[6], 42ull);
	atomicCAS(&a[7], 0ull, 7ull);
}

__global__ void wide_signed(long long *a)
{
	atomicMax(&a[0], 10ll - (long long)threadIdx.x);
	atomicMin(&a[1], 10ll - (long long)threadIdx.x);
}

__global__ void reals(float *f, double *d)
{
	atomicAdd(&f[0], 0.5f);
	atomicExch(&f[1], 2.5f);
	atomicAdd(&d[0], 0.25);
}

__global__ void shared_words(int *y)
{
	__shared__ int word, most;
	__shared__ float real;
	if (threadIdx.x == 0) {
		word = 0;
		most = 0;
		real = 0;
	}
	__syncthreads();
	atomicAdd(&word, 1);
	atomicMax(&most, (int)threadIdx.x);
	atomicAdd(&real, 0.5f);
	__syncthreads();
	if (threadIdx.x == 0) {
		y[0] = word;
		y[1] = most;
		y[2] = (int)real;
	}
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

	//= ints atomic=9*256/9*2/9*64 foot=36/36 tensor:alloc0=0/0/36/36
	ints<<<1, 64>>>(da);
	fetch(a, da, 16);
	EXPECT(a[0] == 128 && a[1] == -192 && a[2] == 53 && a[3] == -10 && a[4] == ~0xffff && a[5] == 0xffff);
	EXPECT(a[6] == 3); // 64 = 2 * 31 + 2: bits 0 and 1 are turned three times, the others twice
	EXPECT(a[7] == 5 && a[8] == 77);
	//= unsigneds atomic=11*256/11*2/11*64
	unsigneds<<<1, 64>>>(du);
	fetch(u, du, 16);
	EXPECT(u[0] == 0u - 64 && u[1] == 0u - 64 && u[2] == 0x8000002f && u[3] == 0x7ffffff0);
	// 25 is above the limit, so u[4] becomes 0 and u[5] 9; 63 more go round in tens
	EXPECT(u[4] == 63 % 10 && u[5] == 6 && u[6] == 0 && u[7] == 0xffffffff && u[8] == 0 && u[9] == 9 &&
	       u[10] == 1);
	//= wide atomic=8*512/8*2/8*64
	wide<<<1, 64>>>(dw);
	fetch(w, dw, 8);
	EXPECT(w[0] == 64ull << 33 && w[1] == 63ull << 40 && w[2] == 5 && w[3] == 0 && w[4] == ~0ull &&
	       w[5] == ~0ull);
	EXPECT(w[6] == 42 && w[7] == 7);
	long long s[2] = {-99, 5};
	long long *ds = device_copy(s, 2);
	//= wide_signed atomic=2*512/2*2/2*64
	wide_signed<<<1, 64>>>(ds);
	fetch(s, ds, 2);
	EXPECT(s[0] == 10 && s[1] == -53);
	//= reals atomic=256+256+512/6/3*64
	reals<<<1, 64>>>(df, dd);
	fetch(f, df, 2);
	fetch(&d, dd, 1);
	EXPECT(f[0] == 32 && f[1] == 2.5f && d == 16);
	// stores: three by one thread, loads: three by one thread
	//= shared_words store=12/3/3 sstore=12/3/3/3 sload=12/3/3/3 satomic=3*256/6/6/6 barriers=2
	shared_words<<<1, 64>>>(da);
	fetch(a, da, 3);
	EXPECT(a[0] == 64 && a[1] == 63 && a[2] == 32);
	return 0;
}
