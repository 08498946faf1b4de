// A tile filled 16 bytes at a time and read 4 at a time.
// EXPECT racecheck RAW|WAR error
#include <cstdio>

__global__ void spread(const float4 *x, float *y)
{
	__shared__ float4 tile[64];
	const float *flat = (const float *)tile;
	int t = threadIdx.x;
	if (t < 64)
		tile[t] = x[t]; // OTHER
#ifdef FIXED
	__syncthreads();
#endif
	y[t] = flat[t]; // BUG
}

int main()
{
	float4 *x;
	float *y;
	cudaMalloc(&x, 64 * sizeof(float4));
	cudaMalloc(&y, 256 * sizeof(float));
	cudaMemset(x, 0, 64 * sizeof(float4));
	spread<<<1, 256>>>(x, y);
	cudaDeviceSynchronize();
	return 0;
}
