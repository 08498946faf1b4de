// One warp fills a ring buffer, another empties it: two volatile counters, each written by one side, and fences.
#include "../main.cuh"

__global__ void stream(const int *x, int *y, int n, int *ring, volatile int *written, volatile int *read)
{
	__shared__ int near_ring[4];
	__shared__ volatile int near_written, near_read;
	int t = threadIdx.x;
	if (t == 0)
		near_written = near_read = 0;
	__syncthreads();
	if (t == 0) // first half of the way, in shared memory
		for (int i = 0; i < n; i++) {
			while (i - near_read == 4)
				;
			__threadfence_block();
			near_ring[i % 4] = x[i] + 1;
			__threadfence_block();
			near_written = i + 1;
		}
	else if (t == 32) // the second half, in global memory
		for (int i = 0; i < n; i++) {
			while (near_written == i)
				;
			__threadfence();
			int value = near_ring[i % 4];
			__threadfence();
			near_read = i + 1;
			while (i - *read == 3)
				;
			__threadfence();
			ring[i % 3] = value;
			__threadfence();
			*written = i + 1;
		}
	else if (t == 64)
		for (int i = 0; i < n; i++) {
			while (*written == i)
				;
			__threadfence();
			y[i] = ring[i % 3];
			__threadfence();
			*read = i + 1;
		}
}

int main()
{
	int *y = empty<int>(9), *counters = zeros<int>(2);
	stream<<<1, 96>>>(zeros<int>(9), y, 9, empty<int>(3), counters, counters + 1);
	return element(y, 8) != 1 || end();
}
