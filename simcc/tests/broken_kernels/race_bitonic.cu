// A bitonic sort that steps without a barrier once the distance fits a warp: lanes of a warp still need one.
// EXPECT racecheck RAW|WAR warning
// WHOLE
#include <cstdio>

__global__ void sort(int *x)
{
	__shared__ int s[64];
	int t = threadIdx.x;
	s[t] = x[t];
	__syncthreads();
	for (int size = 2; size <= 64; size *= 2)
		for (int step = size / 2; step > 0; step /= 2) {
			int other = t ^ step;
			if (other > t && (s[t] > s[other]) == ((t & size) == 0)) { // BUG
				int swap = s[t];                                   // BUG
				s[t] = s[other];                                   // OTHER
				s[other] = swap;                                   // OTHER
			}
#ifdef FIXED
			__syncthreads();
#else
			if (step > 16 || (step == 1 && size >= 32))
				__syncthreads();
#endif
		}
	x[t] = s[t];
}

int main()
{
	int h[64], *x;
	for (int i = 0; i < 64; i++)
		h[i] = i * 29 % 64;
	cudaMalloc(&x, sizeof h);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	sort<<<1, 64>>>(x);
	cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
#ifdef FIXED
	for (int i = 0; i < 64; i++)
		if (h[i] != i)
			return 2;
#endif
	return 0;
}
