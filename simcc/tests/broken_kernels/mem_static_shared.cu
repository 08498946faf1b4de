// One element past an array, into the array declared next.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void halo(const float *x, float *y)
{
	__shared__ float s[WRONG(65, 66)], weight[3];
	int t = threadIdx.x;
	if (t < 3)
		weight[t] = 1;
	s[t + 1] = x[t];
	if (t == 0)
		s[0] = 0;
	if (t == 63)
		s[65] = 0; // BUG
	__syncthreads();
	y[t] = s[t] * weight[0] + s[t + 1] * weight[1] + s[t + 2] * weight[2];
}

MAIN(halo<<<1, 64>>>(zeros<float>(64), empty<float>(64)))
