// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void shift(const float *x, float *y)
{
	int i = threadIdx.x;
#ifdef FIXED
	y[i] = i > 0 ? x[i - 1] : 0;
#else
	y[i] = x[i - 1]; // BUG
#endif
}

int main()
{
	float *x = zeros<float>(64), *y = empty<float>(64);
	shift<<<1, 64>>>(x, y);
	return end();
}
