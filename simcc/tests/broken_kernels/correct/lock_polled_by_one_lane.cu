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
	int *lock = zeros<int>(1);
	float *sums = zeros<float>(32), last;
	add<<<8, 32>>>(lock, sums);
	cudaMemcpy(&last, sums + 31, sizeof last, cudaMemcpyDeviceToHost);
	return end(lock, sums) + (last != 8);
}
