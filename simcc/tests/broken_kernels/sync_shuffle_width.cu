// Groups of 12 lanes, which no shuffle has.
// EXPECT synccheck invalid_mask error
#include "main.cuh"

__global__ void pairs(const float *x, float *y, int width)
{
	float v = x[threadIdx.x];
	y[threadIdx.x] = __shfl_sync(0xffffffff, v, 0, width); // BUG
}

int main()
{
	float *x = zeros<float>(32), *y = empty<float>(32);
#ifdef FIXED
	pairs<<<1, 32>>>(x, y, 16);
#else
	pairs<<<1, 32>>>(x, y, 12);
#endif
	return end();
}
