// One lane takes the lock, __syncwarp() tells the others that it has, and each lane fences for itself.
#include "../main.cuh"

__global__ void add(int *lock, float *sums)
{
	if (threadIdx.x == 0)
		while (atomicCAS(lock, 0, 1) != 0)
			;
	__syncwarp();
	__threadfence();
	sums[threadIdx.x] += 1;
	__syncwarp();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicExch(lock, 0);
	}
}

int main()
{
	float *sums = zeros<float>(32);
	add<<<8, 32>>>(zeros<int>(1), sums);
	return element(sums, 31) != 8 || end();
}
