//! order: threads that contend count a try for each turn they are given
// Spin locks and compare-and-swap loops: threads that wait for other threads by looking, in one warp, between
// warps and between blocks. They must end whatever the order in which threads run.
#include "check.cuh"

__device__ int lock;

__device__ void acquire(int *mutex)
{
	while (atomicCAS(mutex, 0, 1) != 0)
		;
	__threadfence();
}

__device__ void release(int *mutex)
{
	__threadfence();
	atomicExch(mutex, 0);
}

// What the lock protects is long: its owner is interrupted in the middle of it, and the others find it taken.
__global__ void counter(volatile int *total, volatile float *scratch, int length)
{
	acquire(&lock);
	int before = *total;
	for (int i = 0; i < length; i++)
		scratch[0] = (float)i;
	*total = before + 1;
	release(&lock);
}

// What an atomic returns: each ticket once.
__global__ void tickets(int *next, int *taken)
{
	int ticket = atomicAdd(next, 1);
	taken[ticket] = 1;
}

// Any operation can be made of compare-and-swap.
__device__ double atomic_max_double(double *address, double value)
{
	unsigned long long *bits = (unsigned long long *)address;
	unsigned long long old = *bits, assumed;
	do {
		assumed = old;
		if (__longlong_as_double(assumed) >= value)
			break;
		old = atomicCAS(bits, assumed, (unsigned long long)__double_as_longlong(value));
	} while (assumed != old);
	return __longlong_as_double(old);
}

__global__ void made_of_cas(double *y)
{
	atomic_max_double(y, (double)((threadIdx.x * 37) % 64 + blockIdx.x));
}

// A thread that waits with atomics for a later one. A plain build gives turns only there, now and then.
__global__ void wait_for_the_last(int *arrived, int *seen)
{
	if (threadIdx.x == blockDim.x - 1)
		atomicExch(arrived, 1);
	while (atomicAdd(arrived, 0) == 0)
		;
	seen[threadIdx.x] = atomicAdd(arrived, 0);
}

int main()
{
	int *dtotal = device_zeros<int>(1);
	int *next = device_zeros<int>(1), *taken = device_zeros<int>(256);
	float *scratch = device_zeros<float>(1);
	double *dmost = device_zeros<double>(1);

	//= counter ANY
	counter<<<4, 64>>>(dtotal, scratch, 100);
	EXPECT(element(dtotal, 0) == 256);
	//= tickets atomic=1024/8/256 store=1024/8/? foot=4/4+1024
	tickets<<<4, 64>>>(next, taken);
	EXPECT_EACH(taken, 256, i, 1);
	//= made_of_cas ANY
	made_of_cas<<<4, 64>>>(dmost);
	EXPECT(element(dmost, 0) == 66);
	int *arrived = device_zeros<int>(1), *seen = device_zeros<int>(96);
	//= wait_for_the_last ANY
	wait_for_the_last<<<1, 96>>>(arrived, seen);
	EXPECT_EACH(seen, 96, i, 1);
	return 0;
}
