// A tile filled 16 bytes at a time and read 4 at a time.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

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
	float4 *x = zeros<float4>(64);
	float *y = empty<float>(256);
	spread<<<1, 256>>>(x, y);
	return end();
}
