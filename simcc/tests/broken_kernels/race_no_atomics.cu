// Reading, changing and writing are two steps; the twins make them one.
// EXPECT racecheck RAW|WAR|WAW error|warning x5
#include "main.cuh"

__global__ void shared_histogram(const int *x, int *y, int n)
{
	__shared__ int bin[16];
	int t = threadIdx.x;
	if (t < 16)
		bin[t] = 0;
	__syncthreads();
	for (int i = t; i < n; i += blockDim.x) {
		WRONG(bin[x[i] % 16]++, atomicAdd(&bin[x[i] % 16], 1)); // BUG
	}
	__syncthreads();
	if (t < 16)
		atomicAdd(&y[t], bin[t]);
}

__global__ void global_histogram(const int *x, int *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		WRONG(bins[x[i] & 7] += 1, atomicAdd(&bins[x[i] & 7], 1)); // BUG
	}
}

// 32 threads add to one element.
__global__ void one_warp(const int *x, int *y)
{
	WRONG(*y += x[threadIdx.x], atomicAdd(y, x[threadIdx.x])); // BUG
}

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

// A counter between blocks that is volatile: two may read the same number, and one count is lost.
__global__ void count(int *events)
{
	if (threadIdx.x == 0)
		WRONG(*(volatile int *)events += 1, atomicAdd(events, 1)); // BUG
}

int main()
{
	int *x = upwards<int>(500), *y = zeros<int>(16), *changing = upwards<int>(128, 0, 37 << 24);
	shared_histogram<<<1, 128>>>(x, y, 500);
	global_histogram<<<4, 128>>>(x, y, 500);
	one_warp<<<1, 32>>>(x, y);
	maximum<<<1, 128>>>(changing, y);
	count<<<4, 32>>>(y);
	return end();
}
