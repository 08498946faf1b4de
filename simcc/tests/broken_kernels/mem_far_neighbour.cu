// A wrong batch stride leads megabytes past the end, where another allocation may well lie.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void scale(float *x, size_t stride)
{
	x[blockIdx.x * stride + threadIdx.x] *= 2; // BUG
}

int main()
{
	float *d[8];
	for (int i = 0; i < 8; i++)
		d[i] = zeros<float>(4 * 64);
	scale<<<4, 64>>>(d[0], WRONG(1 << 18, 64));
	return end();
}
