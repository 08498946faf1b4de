// Each block announces its part with a flag of its own; the last one to start waits for all of them, then fences
// once.
#include "../main.cuh"

__global__ void collect(const int *x, int *part, volatile int *ready, int *tickets, int *y)
{
	__shared__ int ticket;
	if (threadIdx.x == 0)
		ticket = atomicAdd(tickets, 1);
	__syncthreads();
	if (ticket < gridDim.x - 1) {
		part[32 * ticket + threadIdx.x] = 2 * x[32 * ticket + threadIdx.x];
		__syncwarp();
		if (threadIdx.x == 0) {
			__threadfence();
			ready[ticket] = 1;
		}
	} else if (threadIdx.x == 0) {
		int sum = 0;
		for (int b = 0; b < gridDim.x - 1; b++)
			while (ready[b] == 0)
				;
		__threadfence();
		for (int i = 0; i < 32 * (gridDim.x - 1); i++)
			sum += part[i];
		*y = sum;
	}
}

int main()
{
	const int blocks = 41;
	int *y = empty<int>(1);
	collect<<<blocks, 32>>>(
		ones<int>(32 * blocks), empty<int>(32 * blocks), zeros<int>(blocks), zeros<int>(1), y);
	return element(y, 0) != 64 * (blocks - 1) || end();
}
