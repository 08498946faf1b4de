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
	int *sum = zeros<int>(1);
	add<<<4, 128>>>(lock{zeros<int>(1)}, sum, zeros<int>(2), ones<int>(512));
	return element(sum, 0) != 16 || end();
}
