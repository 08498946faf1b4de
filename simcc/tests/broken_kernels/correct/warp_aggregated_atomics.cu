// One atomic a warp: the leader adds for all active lanes (__activemask), and by equal keys (a loop of ballots).
// WHOLE
#include <cstdio>

__device__ int aggregated_increment(int *counter)
{
	unsigned active = __activemask();
	int lane = threadIdx.x % 32, leader = __ffs(active) - 1, first = 0;
	if (lane == leader)
		first = atomicAdd(counter, __popc(active));
	first = __shfl_sync(active, first, leader);
	return first + __popc(active & ((1u << lane) - 1));
}

__global__ void filter(const int *x, int *y, int *count, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && x[i] % 3 == 0)
		y[aggregated_increment(count)] = x[i];
}

__global__ void by_key(const int *x, int *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
	unsigned todo = __ballot_sync(~0u, i < n);
	if (i >= n)
		return;
	int key = x[i] & 3;
	while (todo) {
		int leader = __ffs(todo) - 1, its = __shfl_sync(todo, key, leader);
		unsigned same = __ballot_sync(todo, key == its);
		if (lane == leader)
			atomicAdd(&bins[its], __popc(same));
		if (key == its)
			break;
		todo &= ~same;
	}
}

int main()
{
	int h[1000], *x, *y, *count, *bins, got = 0;
	for (int i = 0; i < 1000; i++)
		h[i] = i;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&y, sizeof h);
	cudaMalloc(&count, sizeof(int));
	cudaMalloc(&bins, 4 * sizeof(int));
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	cudaMemset(count, 0, sizeof(int));
	cudaMemset(bins, 0, 4 * sizeof(int));
	filter<<<8, 128>>>(x, y, count, 1000);
	by_key<<<8, 128>>>(x, bins, 1000);
	cudaMemcpy(&got, count, sizeof got, cudaMemcpyDeviceToHost);
	cudaMemcpy(h, bins, 4 * sizeof(int), cudaMemcpyDeviceToHost);
	cudaFree(x), cudaFree(y), cudaFree(count), cudaFree(bins);
	return got != 334 || h[3] != 250;
}
