// The left neighbor of thread 0 lies before shared memory, of the first array: no host pointer.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void difference(const float *x, float *y)
{
	__shared__ float s[128];
	int t = threadIdx.x;
	s[t] = x[t];
	__syncthreads();
	y[t] = WRONG(s[t] - s[t - 1], t > 0 ? s[t] - s[t - 1] : 0.0f); // BUG
}

MAIN(difference<<<1, 128, 128 * sizeof(float)>>>(zeros<float>(128), empty<float>(128)))
