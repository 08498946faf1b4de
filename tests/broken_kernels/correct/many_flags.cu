// Each block announces its part with a flag of its own; the last one to start waits for all of them, then fences
// once.
#include <cstdio>

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
	int h[32 * blocks], *x, *part, *ready, *tickets, *y, sum = 0;
	for (int i = 0; i < 32 * blocks; i++)
		h[i] = 1;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&part, sizeof h);
	cudaMalloc(&ready, blocks * sizeof(int));
	cudaMalloc(&tickets, sizeof(int));
	cudaMalloc(&y, sizeof(int));
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	cudaMemset(ready, 0, blocks * sizeof(int));
	cudaMemset(tickets, 0, sizeof(int));
	collect<<<blocks, 32>>>(x, part, ready, tickets, y);
	cudaMemcpy(&sum, y, sizeof sum, cudaMemcpyDeviceToHost);
	cudaFree(x), cudaFree(part), cudaFree(ready), cudaFree(tickets), cudaFree(y);
	return sum != 64 * (blocks - 1);
}
