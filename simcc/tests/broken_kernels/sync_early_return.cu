// Threads past the end leave; the others pass the barrier without them.
// EXPECT synccheck exited_threads warning
// WHOLE
#include <cstdio>

__global__ void reverse(const float *x, float *y, int n)
{
	__shared__ float s[128];
	int t = threadIdx.x, i = blockIdx.x * 128 + t;
#ifdef FIXED
	s[t] = i < n ? x[i] : 0;
#else
	if (i >= n)
		return;
	s[t] = x[i];
#endif
	__syncthreads(); // BUG
	if (i < n)
		y[i] = s[t ^ 1];
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 200 * sizeof(float));
	cudaMalloc(&y, 200 * sizeof(float));
	cudaMemset(x, 0, 200 * sizeof(float));
	reverse<<<2, 128>>>(x, y, 200);
	cudaDeviceSynchronize();
	return 0;
}
