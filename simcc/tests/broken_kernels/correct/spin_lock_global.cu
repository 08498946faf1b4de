// A lock between blocks (and warps) around plain updates of several words.
#include "../main.cuh"

struct lock {
	int *word;
};

__device__ void acquire(lock l)
{
	while (atomicCAS(l.word, 0, 1) != 0)
		;
	__threadfence();
}

__device__ void release(lock l)
{
	__threadfence();
	atomicExch(l.word, 0);
}

__global__ void add(lock l, int *sum, int *count, const int *x)
{
	if (threadIdx.x % 32 == 0) {
		acquire(l);
		*sum += x[blockIdx.x * blockDim.x + threadIdx.x];
		count[0]++;
		if (*sum > count[1])
			count[1] = *sum;
		release(l);
	}
}

int main()
{
	int h[512], total = 0;
	for (int i = 0; i < 512; i++)
		h[i] = 1;
	int *x = copy_of(h), *sum = zeros<int>(1), *count = zeros<int>(2), *word = zeros<int>(1);
	add<<<4, 128>>>(lock{word}, sum, count, x);
	cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
	free_all(x, sum, count, word);
	return total != 16;
}
