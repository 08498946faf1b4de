// The last block adds up what the others have written, and each launch does one thing wrong.
// EXPECT racecheck RAW error x2
// ORDERS all
#include "main.cuh"

enum bug {
	NONE,
	NO_FENCE,   // the last block may not see it yet
	NO_BARRIER, // thread 0 announces what all have written without waiting for them
};

__device__ unsigned finished;

template <bug B>
__global__ void sum(const float *x, float *partial, float *y)
{
	__shared__ bool last;
	int t = threadIdx.x;
	partial[blockIdx.x * 64 + t] = 2 * x[blockIdx.x * 64 + t]; // OTHER
	if (B != NO_FENCE)
		__threadfence();
	if (B != NO_BARRIER)
		__syncthreads();
	if (t == 0)
		last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
	__syncthreads();
	if (last) {
		float total = 0;
		for (int b = 0; b < gridDim.x; b++)
			total += partial[b * 64 + t]; // BUG
		y[t] = total;
	}
}

int main()
{
	float *x = zeros<float>(512), *partial = empty<float>(512), *y = empty<float>(64);
#ifdef FIXED
	sum<NONE><<<8, 64>>>(x, partial, y);
#else
	sum<NO_FENCE><<<8, 64>>>(x, partial, y);
	sum<NO_BARRIER><<<8, 64>>>(x, partial, y);
#endif
	return end();
}
