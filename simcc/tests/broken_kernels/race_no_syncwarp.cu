// The lanes of a warp do not go in step by themselves.
// EXPECT racecheck RAW|WAR warning x10
// ORDERS all
#include "main.cuh"

// All lanes read a flag of one byte, and the first sets it again: the others may see the new one.
__global__ void next_phase(char *y)
{
	__shared__ char phase[4];
	if (threadIdx.x == 0)
		phase[0] = 1;
	__syncthreads();
	y[threadIdx.x] = phase[0]; // OTHER
	IF_RIGHT(__syncwarp());
	if (threadIdx.x == 0)
		phase[0] = 2; // BUG
}

// All read an element in one instruction, and the last of them writes it.
__global__ void number_lines(int *y)
{
	__shared__ int next;
	if (threadIdx.x == 0)
		next = 100;
	__syncthreads();
	int first = next; // OTHER
	IF_RIGHT(__syncwarp());
	if (threadIdx.x == 31)
		next = first + 32; // BUG
	__syncthreads();
	y[threadIdx.x] = first + threadIdx.x + next;
}

// The lanes read what one of them then writes, in global memory.
__global__ void normalize(float *x)
{
	float first = x[0];                  // OTHER
	float mine = x[threadIdx.x] - first; // OTHER
	IF_RIGHT(__syncwarp());
	x[threadIdx.x] = mine; // BUG
}

// Each moves its right neighbour's value in place: reads first, but nothing says so.
template <class T>
__global__ void shift(T *x)
{
	int t = threadIdx.x;
	T next = t < 31 ? x[t + 1] : T(); // OTHER
	IF_RIGHT(__syncwarp());
	x[t] = next; // BUG
}

// All count, and one takes the sums.
__global__ void count(int *n, int *total)
{
	__shared__ int m;
	int t = threadIdx.x;
	if (t == 0)
		m = 0;
	__syncwarp();
	atomicAdd(&m, 1); // OTHER
	atomicAdd(n, 1);  // OTHER
	IF_RIGHT(__syncwarp());
	if (t == 31)
		total[0] = m; // BUG
	if (t == 31)
		total[1] = *n; // BUG
}

// Each half of the warp synchronizes with itself, but reads what the other half wrote.
__global__ void exchange(int *y)
{
	__shared__ int s[32];
	int t = threadIdx.x;
	s[t] = t * t; // OTHER
	if (WRONG(true, false))
		t < 16 ? __syncwarp(0x0000ffff) : __syncwarp(0xffff0000);
	IF_RIGHT(__syncwarp());
	y[t] = s[t ^ 16]; // BUG
}

// The shuffle synchronizes 16 lanes only; the lanes beyond read what lane 0 has written before it.
__global__ void broadcast(int *y)
{
	__shared__ int s;
	int t = threadIdx.x, v = t + 1;
	if (t == 0)
		s = v; // OTHER
	if (t < WRONG(16, 32))
		v += __shfl_down_sync(WRONG(0x0000ffff, 0xffffffff), v, 8);
	y[t] = s + v; // BUG
}

// A lane that has left meets no other: the mask may name it, and what it wrote is ordered before nothing.
__global__ void previous(int *y)
{
	__shared__ int s[32];
	int t = threadIdx.x;
	s[t] = t; // OTHER
	if (WRONG(t == 0, false))
		return;
	__syncwarp();
	y[t] = s[(t + 31) % 32]; // BUG
}

// The last warp of a reduction in the style of 2010: volatile has never been a __syncwarp().
__global__ void last_warp(int *y)
{
	__shared__ volatile int s[64];
	int t = threadIdx.x;
	s[t] = t;
	s[t + 32] = 1;
	__syncwarp();
	for (int step = 32; step > 0; step /= 2) {
		WRONG(s[t] += s[t + step], int v = s[t + step]); // BUG
		IF_RIGHT(__syncwarp());
		IF_RIGHT(s[t] += v);
		IF_RIGHT(__syncwarp());
	}
	y[t] = s[t];
}

int main()
{
	float *x = zeros<float>(32);
	int *y = zeros<int>(32);
	next_phase<<<1, 32>>>((char *)y);
	number_lines<<<1, 32>>>(y);
	normalize<<<1, 32>>>(x);
	shift<<<1, 32>>>(x);
	shift<<<1, 32>>>((unsigned char *)x);
	count<<<1, 32>>>(y, y + 1);
	exchange<<<1, 32>>>(y);
	broadcast<<<1, 32>>>(y);
	previous<<<1, 32>>>(y);
	last_warp<<<1, 32>>>(y);
	return end();
}
