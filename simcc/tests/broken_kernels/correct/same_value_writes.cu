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
	int *found = zeros<int>(1);
	find<<<4, 128>>>(ones<int>(500), found, 1, 500);
	return element(found, 0) != 1 || end();
}
