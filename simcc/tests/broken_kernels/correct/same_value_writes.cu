// "found = true" by many threads, and borders cleared by several: everyone writes the same.
#include "../main.cuh"

__global__ void find(const int *x, int *found, int wanted, int n)
{
	__shared__ bool here;
	__shared__ float border[8];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	here = false;
	border[threadIdx.x % 8] = 0;
	__syncthreads();
	if (i < n && x[i] == wanted)
		here = true;
	__syncthreads();
	if (here && border[threadIdx.x % 8] == 0)
		*found = 1;
}

int main()
{
	int h[500];
	for (int i = 0; i < 500; i++)
		h[i] = i % 2;
	int *x = copy_of(h), *found = zeros<int>(1);
	find<<<4, 128>>>(x, found, 1, 500);
	cudaMemcpy(h, found, sizeof(int), cudaMemcpyDeviceToHost);
	free_all(x, found);
	return h[0] != 1;
}
