// EXPECT memcheck null|out_of_bounds error
#include <cstdio>

__global__ void attention(const float *q, float *o, float *l)
{
	int i = threadIdx.x;
	o[i] = q[i];
	l[i] = 1; // BUG
}

int main()
{
	float *q, *o, *l = NULL;
	cudaMalloc(&q, 64 * sizeof(float));
	cudaMalloc(&o, 64 * sizeof(float));
	cudaMemset(q, 0, 64 * sizeof(float));
#ifdef FIXED
	cudaMalloc(&l, 64 * sizeof(float));
#endif
	attention<<<1, 64>>>(q, o, l);
	cudaDeviceSynchronize();
	return 0;
}
