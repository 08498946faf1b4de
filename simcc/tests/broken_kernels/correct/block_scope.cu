// Atomics and fences of block scope, between threads of one block: a counter, a lock, and a chain of three threads.
#include "../main.cuh"

__global__ void work(int *count, int *lock, int *sum, int *link, int *y)
{
	int b = blockIdx.x, t = threadIdx.x;
	count += b, lock += b, sum += b, link += 4 * b;
	atomicAdd_block(count, 1);
	if (t % 32 == 0) {
		while (atomicCAS_block(lock, 0, 1) != 0)
			;
		__threadfence_block();
		*sum += t;
		__threadfence_block();
		atomicExch_block(lock, 0);
	}
	/* What the first hands to the second, the second hands on to the third. */
	if (t == 1) {
		link[2] = 7;
		__threadfence_block();
		atomicExch_block(&link[0], 1);
	} else if (t == 33) {
		while (atomicAdd_block(&link[0], 0) == 0)
			;
		__threadfence_block();
		atomicExch_block(&link[1], 1);
	} else if (t == 65) {
		while (atomicAdd_block(&link[1], 0) == 0)
			;
		__threadfence_block();
		link[2]++;
	}
	__syncthreads();
	if (t == 0)
		y[b] = *count + *sum + link[2];
}

int main()
{
	int *p = zeros<int>(28), *y = empty<int>(4);
	work<<<4, 96>>>(p, p + 4, p + 8, p + 12, y);
	return element(y, 3) != 96 + 96 + 8 || end();
}
