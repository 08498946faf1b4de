// One element past the dynamic shared memory that the launch asked for, where nothing else lies.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void shift(const float *x, float *y)
{
	extern __shared__ float s[];
	int t = threadIdx.x;
	s[t] = x[t];
	if (t == 0)
		s[64] = 0; // BUG
	__syncthreads();
	y[t] = s[t + 1];
}

MAIN(shift<<<1, 64, WRONG(64, 65) * sizeof(float)>>>(zeros<float>(64), empty<float>(64)))
