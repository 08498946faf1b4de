// One warp stores through a volatile pointer, another reads without: volatile is no barrier.
// EXPECT racecheck RAW|WAR error
#include <cstdio>

__global__ void share(const float *x, float *most, float *y)
{
	int t = threadIdx.x;
	if (t == 0)
		*(volatile float *)most = x[0]; // OTHER
#ifdef FIXED
	__syncthreads();
#endif
	y[t] = x[t] - *most; // BUG
}

int main()
{
	float *x, *most, *y;
	cudaMalloc(&x, 64 * sizeof(float));
	cudaMalloc(&y, 64 * sizeof(float));
	cudaMalloc(&most, sizeof(float));
	cudaMemset(x, 0, 64 * sizeof(float));
	cudaMemset(most, 0, sizeof(float));
	share<<<1, 64>>>(x, most, y);
	cudaDeviceSynchronize();
	return 0;
}
