// "if larger, replace" is two steps; the twin makes it one.
// EXPECT racecheck RAW|WAR|WAW error
#include "main.cuh"

__global__ void maximum(const int *x, int *y)
{
	__shared__ int best;
	int t = threadIdx.x;
	if (t == 0)
		best = 0;
	__syncthreads();
#ifdef FIXED
	atomicMax(&best, x[t]);
#else
	if (x[t] > best)     // OTHER
		best = x[t]; // BUG
#endif
	__syncthreads();
	if (t == 0)
		*y = best;
}

int main()
{
	int h[128];
	for (int i = 0; i < 128; i++)
		h[i] = i * 37 % 101;
	int *x = copy_of(h), *y = empty<int>(1);
	maximum<<<1, 128>>>(x, y);
	return end();
}
