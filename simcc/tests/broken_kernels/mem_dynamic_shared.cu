// The launch asks for too little dynamic shared memory: elements instead of bytes.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void reverse(const float *x, float *y)
{
	extern __shared__ float s[];
	int t = threadIdx.x;
	s[t] = x[t]; // BUG
	__syncthreads();
	y[t] = s[127 - t];
}

MAIN(reverse<<<1, 128, WRONG(128, 128 * sizeof(float))>>>(zeros<float>(128), empty<float>(128)))
