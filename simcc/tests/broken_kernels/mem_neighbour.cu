// Past the end of K lies another allocation, V: on a GPU nothing would stop this.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void clear(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = 0; // BUG
}

int main()
{
	float *k = empty<float>(64 * 64), *v = empty<float>(64 * 64);
	clear<<<WRONG(65, 64), 64>>>(k, WRONG(65, 64) * 64);
	return v == nullptr || end();
}
