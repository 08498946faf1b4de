// A tree reduction whose barrier stands behind the loop instead of in it.
// EXPECT racecheck RAW|WAR error
#include <cstdio>

__global__ void sum(const float *x, float *y)
{
	__shared__ float s[256];
	int t = threadIdx.x;
	s[t] = x[blockIdx.x * 256 + t];
	__syncthreads();
	for (int half = 128; half > 0; half /= 2) {
		if (t < half)
			s[t] += s[t + half]; // BUG
#ifdef FIXED
		__syncthreads();
#endif
	}
	__syncthreads();
	if (t == 0)
		y[blockIdx.x] = s[0];
}

int main()
{
	float *x, *y;
	cudaMalloc(&x, 512 * sizeof(float));
	cudaMalloc(&y, 2 * sizeof(float));
	cudaMemset(x, 0, 512 * sizeof(float));
	sum<<<2, 256>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
