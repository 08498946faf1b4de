// 32 threads add to one element without atomics.
// EXPECT racecheck RAW|WAR|WAW error|warning
#include <cstdio>

__global__ void sum(const float *x, float *y)
{
#ifdef FIXED
	atomicAdd(y, x[threadIdx.x]);
#else
	*y += x[threadIdx.x]; // BUG
#endif
}

int main()
{
	float h[32], *x, *y;
	for (int i = 0; i < 32; i++)
		h[i] = i;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&y, sizeof(float));
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	cudaMemset(y, 0, sizeof(float));
	sum<<<1, 32>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
