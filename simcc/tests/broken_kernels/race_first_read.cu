// The tile is read before every warp has written its part of it.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

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
	float h[128];
	for (int i = 0; i < 128; i++)
		h[i] = i;
	float *x = copy_of(h), *y = empty<float>(128);
	reverse<<<1, 128>>>(x, y);
	cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
	return 0;
}
