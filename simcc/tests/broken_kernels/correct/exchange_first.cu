// atomicExch() may be the first to write: nobody looks at what it returns.
#include "../main.cuh"

__global__ void reset(int *state, float *y)
{
	__shared__ unsigned long long lock;
	__shared__ float most;
	int t = threadIdx.x;
	atomicExch(&most, 0.f);
	atomicExch_block(&lock, 0ull);
	atomicExch(&state[t], t);
	__syncthreads();
	y[t] = most + (float)lock + (float)state[t];
}

MAIN(reset<<<1, 64>>>(empty<int>(64), empty<float>(64)))
