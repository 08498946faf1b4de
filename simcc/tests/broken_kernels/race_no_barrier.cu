// What other threads write is read without a barrier between.
// EXPECT racecheck RAW|WAR error x8
// ORDERS all
#include "main.cuh"

// The tile is read before every warp has written its part of it.
__global__ void reverse(const float *x, float *y)
{
	__shared__ float tile[128];
	int t = threadIdx.x;
	tile[t] = x[t]; // OTHER
	IF_RIGHT(__syncthreads());
	y[t] = tile[127 - t]; // BUG
}

// A tile filled 16 bytes at a time and read 4 at a time.
__global__ void spread(const float4 *x, float *y)
{
	__shared__ float4 tile[64];
	const float *flat = (const float *)tile;
	int t = threadIdx.x;
	if (t < 64)
		tile[t] = x[t]; // OTHER
	IF_RIGHT(__syncthreads());
	y[t] = flat[t]; // BUG
}

// Threads of a block exchange results through global memory: that needs the same barrier as shared memory.
__global__ void exchange(float *scratch, float *y)
{
	float *mine = scratch + blockIdx.x * blockDim.x;
	int t = threadIdx.x;
	mine[t] = t; // OTHER
	IF_RIGHT(__syncthreads());
	y[blockIdx.x * blockDim.x + t] = mine[blockDim.x - 1 - t]; // BUG
}

// After more barriers than a cell of racecheck has numbers for, one is missing.
__global__ void rounds(float *y)
{
	__shared__ int s[64];
	const int t = threadIdx.x;
	for (int i = 0; i < 20000; i++)
		__syncthreads();
	s[t] = t; // OTHER
	IF_RIGHT(__syncthreads());
	y[t] = s[63 - t]; // BUG
}

// Bytes moved by one in place. In the twin neighbors write into the same word at once: that is no race.
__global__ void shift_in_shared(unsigned char *x)
{
	__shared__ unsigned char s[97];
	int t = threadIdx.x;
	s[t] = x[t];
	if (t == 0)
		s[96] = 0;
	__syncthreads();
	unsigned char next = s[t + 1]; // OTHER
	IF_RIGHT(__syncthreads());
	s[t] = next; // BUG
	x[t] = s[t];
}

__global__ void shift_in_global(unsigned char *x, int n)
{
	int i = threadIdx.x;
	unsigned char next = i + 1 < n ? x[i + 1] : 0; // OTHER
	IF_RIGHT(__syncthreads());
	if (i < n)
		x[i] = next; // BUG
}

// Hillis-Steele in place: between reading the neighbor and adding it, a barrier is missing.
__global__ void scan(float *y)
{
	__shared__ int s[128];
	int t = threadIdx.x;
	s[t] = 1;
	__syncthreads();
	for (int step = 1; step < 128; step *= 2) {
		int add = t >= step ? s[t - step] : 0; // OTHER
		IF_RIGHT(__syncthreads());
		s[t] += add; // BUG
		__syncthreads();
	}
	y[t] = s[t];
}

// A tree whose barrier stands behind the loop instead of in it.
__global__ void reduce(const float *x, float *y)
{
	__shared__ float s[128];
	int t = threadIdx.x;
	s[t] = x[t];
	__syncthreads();
	for (int half = 64; half > 0; half /= 2) {
		if (t < half)
			s[t] += s[t + half]; // BUG
		IF_RIGHT(__syncthreads());
	}
	__syncthreads();
	if (t == 0)
		*y = s[0];
}

int main()
{
	float *x = upwards<float>(256), *y = empty<float>(256), *scratch = empty<float>(256);
	reverse<<<1, 128>>>(x, y);
	spread<<<1, 256>>>((float4 *)x, y);
	exchange<<<2, 128>>>(scratch, y);
	rounds<<<1, 64>>>(y);
	shift_in_shared<<<1, 96>>>((unsigned char *)x);
	shift_in_global<<<1, 128>>>((unsigned char *)x, 100);
	scan<<<1, 128>>>(y);
	reduce<<<1, 128>>>(x, y);
	return end();
}
