// The tile is read before every warp has written its part of it.
// EXPECT racecheck RAW|WAR error
#include <cstdio>

__global__ void reverse(const float *x, float *y)
{
	__shared__ float tile[128];
	int t = threadIdx.x;
	tile[t] = x[t]; // OTHER
#ifdef FIXED
	__syncthreads();
#endif
	y[t] = tile[127 - t]; // BUG
}

int main()
{
	float h[128], *x, *y;
	for (int i = 0; i < 128; i++)
		h[i] = i;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&y, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	reverse<<<1, 128>>>(x, y);
	cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
	return 0;
}
