// Locks that are taken without a fence where none is needed, and words that look like locks.
#include "../main.cuh"

// What follows the taking is ordered by a flag anyway: the second thread never comes first.
__global__ void by_flag(int *lock, int *flag, int *x)
{
	if (threadIdx.x == 32) {
		while (atomicAdd(flag, 0) == 0)
			;
		__threadfence();
	}
	if (threadIdx.x % 32 == 0) {
		while (atomicCAS(lock, 0, 1) != 0)
			;
		if (threadIdx.x == 32)
			__threadfence();
		x[0] += 1;
		__threadfence();
		atomicExch(lock, 0);
		atomicExch(flag, 1);
	}
}

// A thread takes it for its block: the barrier is its acquire, and the fence comes after the next one.
__global__ void by_block(int *lock, int *x)
{
	if (threadIdx.x == 0)
		while (atomicExch(lock, 1) != 0)
			;
	__syncthreads();
	x[threadIdx.x] += 1;
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicExch(lock, 0);
	}
}

// The first thread makes it, the others wait: 0, 1, 2 and never 0 again.
__global__ void once(int *state, int *x, int *y)
{
	if (threadIdx.x % 32 == 0) {
		if (atomicCAS(state, 0, 1) == 0) {
			x[0] = 5;
			__threadfence();
			atomicExch(state, 2);
		}
		while (atomicAdd(state, 0) != 2)
			;
		__threadfence();
		y[threadIdx.x / 32] = x[0];
	}
}

// A mailbox: one puts (0 to 1), the other takes (1 to 0).
__global__ void mailbox(int *full, int *letter, int *y)
{
	if (threadIdx.x == 0)
		for (int i = 0; i < 5; i++) {
			while (atomicAdd(full, 0) != 0)
				;
			__threadfence();
			letter[0] = i;
			__threadfence();
			atomicCAS(full, 0, 1);
		}
	if (threadIdx.x == 32)
		for (int i = 0; i < 5; i++) {
			while (atomicAdd(full, 0) != 1)
				;
			__threadfence();
			y[i] = letter[0];
			__threadfence();
			atomicCAS(full, 1, 0);
		}
}

int main()
{
	int *words = zeros<int>(8), *x = zeros<int>(64), *y = zeros<int>(8);
	by_flag<<<1, 64>>>(words, words + 1, x);
	by_block<<<4, 64>>>(words + 2, x);
	once<<<1, 96>>>(words + 3, x, y);
	mailbox<<<1, 64>>>(words + 4, x, y);
	return end();
}
