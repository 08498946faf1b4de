// One lane computes an index and hands it to its warp through shared memory, a __syncwarp() on each side.
#include <cstdio>

__global__ void work(int *queue, const float *x, float *y, int items)
{
	__shared__ int item[4];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (;;) {
		if (lane == 0)
			item[warp] = atomicAdd(queue, 1);
		__syncwarp();
		int mine = item[warp];
		__syncwarp();
		if (mine >= items)
			break;
		y[mine * 32 + lane] = x[mine * 32 + lane] * 2;
	}
}

int main()
{
	float *x, *y;
	int *queue;
	cudaMalloc(&x, 20 * 32 * sizeof(float));
	cudaMalloc(&y, 20 * 32 * sizeof(float));
	cudaMalloc(&queue, sizeof(int));
	cudaMemset(x, 0, 20 * 32 * sizeof(float));
	cudaMemset(queue, 0, sizeof(int));
	work<<<2, 128>>>(queue, x, y, 20);
	cudaError_t e = cudaDeviceSynchronize();
	cudaFree(x), cudaFree(y), cudaFree(queue);
	return e != cudaSuccess;
}
