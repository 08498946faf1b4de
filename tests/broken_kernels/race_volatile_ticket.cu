// The last block adds up what the others have written, but the tickets are taken from a volatile counter.
// EXPECT racecheck RAW|WAW|WAR error
// ORDERS all
#include <cstdio>

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

int main()
{
	float *x, *partial, *y;
	cudaMalloc(&x, 512 * sizeof(float));
	cudaMalloc(&partial, 512 * sizeof(float));
	cudaMalloc(&y, 64 * sizeof(float));
	cudaMemset(x, 0, 512 * sizeof(float));
	sum<<<8, 64>>>(x, partial, y);
	cudaDeviceSynchronize();
	return 0;
}
