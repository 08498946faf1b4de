// EXPECT synccheck exited_threads warning
#include "main.cuh"

__global__ void loop(float *y, int n)
{
	__shared__ float s[64];
	int t = threadIdx.x;
	float sum = 0;
#ifdef FIXED
	for (int first = 0; first < n; first += 64) {
		int i = first + t;
#else
	for (int i = t; i < n; i += 64) {
#endif
		s[t] = i;
		__syncthreads(); // BUG
		sum += s[t ^ 1];
		__syncthreads(); // BUG
	}
	y[t] = sum;
}

MAIN(loop<<<1, 64>>>(empty<float>(64), 100))
