// The last block adds up what the others have written, but the tickets are taken from a volatile counter.
// EXPECT racecheck RAW|WAW|WAR error
// ORDERS all
#include "main.cuh"

__device__ volatile unsigned next;
__device__ unsigned right_next;

__global__ void sum(const float *x, float *partial, float *y)
{
	__shared__ bool last;
	int t = threadIdx.x;
	partial[blockIdx.x * 64 + t] = 2 * x[blockIdx.x * 64 + t]; // ALSO
	__threadfence();
	__syncthreads();
	if (t == 0) {
#ifdef FIXED
		unsigned ticket = atomicAdd(&right_next, 1);
#else
		unsigned ticket = next; // OTHER
		next = ticket + 1;      // BUG
#endif
		last = ticket == gridDim.x - 1;
	}
	__syncthreads();
	if (last) {
		float total = 0;
		for (int b = 0; b < gridDim.x; b++)
			total += partial[b * 64 + t]; // ALSO
		y[t] = total;
	}
}

MAIN(sum<<<8, 64>>>(zeros<float>(512), empty<float>(512), empty<float>(64)))
