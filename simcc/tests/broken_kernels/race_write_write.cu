// What should be threads' own elements is one.
// EXPECT racecheck WAW|RAW|WAR error x5
#include "main.cuh"

// Every warp's first lane puts its result into the same element.
__global__ void last_wins(float4 *y)
{
	__shared__ int result[4];
	int t = threadIdx.x, warp = t / 32;
	if (t % 32 == 0)
		result[WRONG(0, warp)] = t + warp; // BUG
	__syncthreads();
	if (t == 0)
		y[0].x = result[0];
}

// 16-bit counters of the warps: one element too few, so two warps share one.
__global__ void shorts(short *y)
{
	__shared__ short counter[8];
	int t = threadIdx.x, warp = t / 32;
	if (t % 32 == 0)
		counter[WRONG(warp % 7, warp)] = (short)WRONG(warp, 0); // BUG
	__syncthreads();
	if (t < 7)
		y[t] = counter[t];
}

// Two warps store vectors that agree in their first half and differ in the second.
__global__ void last_tile(float4 *y)
{
	__shared__ float4 edge;
	int warp = threadIdx.x / 32;
	if (threadIdx.x % WRONG(32, 64) == 0)
		edge = make_float4(0, 0, 1, 1 + warp); // BUG
	__syncthreads();
	if (threadIdx.x == 0)
		*y = edge;
}

// Every block stores its own number in the second half of one vector.
__global__ void note(double2 *y)
{
	y[WRONG(0, blockIdx.x)] = make_double2(0, blockIdx.x); // BUG
}

// Two arrays carved out of dynamic shared memory: the second starts 32 elements too early.
__global__ void carve(float *y)
{
	extern __shared__ float sram[];
	float *a = sram, *b = sram + WRONG(32, 64);
	int t = threadIdx.x;
	a[t] = t;  // BUG
	b[t] = -t; // BUG
	__syncthreads();
	y[t] = a[63 - t] + b[63 - t];
}

int main()
{
	float4 *y = empty<float4>(16);
	last_wins<<<1, 128>>>(y);
	shorts<<<1, 256>>>((short *)y);
	last_tile<<<1, 64>>>(y);
	note<<<8, 1>>>((double2 *)y);
	carve<<<1, 64, 128 * sizeof(float)>>>((float *)y);
	return end();
}
