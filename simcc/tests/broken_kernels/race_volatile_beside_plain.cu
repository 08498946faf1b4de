// One warp stores through a volatile pointer, another reads without: volatile is no barrier.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"

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
	float *x = zeros<float>(64), *y = empty<float>(64), *most = zeros<float>(1);
	share<<<1, 64>>>(x, most, y);
	return end();
}
