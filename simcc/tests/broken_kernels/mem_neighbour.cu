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
#ifdef FIXED
	clear<<<64, 64>>>(k, 64 * 64);
#else
	clear<<<65, 64>>>(k, 64 * 65);
#endif
	return end();
}
