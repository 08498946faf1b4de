// Dynamic shared memory that ends within 4 bytes: a short is inside, and a float there ends past it.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void last(float *y)
{
	extern __shared__ float s[];
	if (threadIdx.x < 16)
		s[threadIdx.x] = 1;
	((short *)s)[32] = 0;
	s[16] = 0; // BUG
	y[threadIdx.x] = s[threadIdx.x & 15];
}

MAIN(last<<<1, 1, WRONG(66, 68)>>>(empty<float>(1)))
