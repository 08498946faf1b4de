// EXPECT memcheck null|out_of_bounds error
#include "main.cuh"

__global__ void attention(const float *q, float *o, float *l)
{
	int i = threadIdx.x;
	o[i] = q[i];
	l[i] = 1; // BUG
}

MAIN(attention<<<1, 64>>>(zeros<float>(64), empty<float>(64), WRONG(nullptr, empty<float>(64))))
