// Only the warps that have work wait at the barrier.
// EXPECT synccheck exited_threads warning
#include "main.cuh"

__global__ void load(const float *x, float *y)
{
	__shared__ float s[96];
	int t = threadIdx.x;
	if (t < 96) {
		s[t] = x[t];
		IF_WRONG(__syncthreads()); // BUG
	}
	IF_RIGHT(__syncthreads());
	y[t] = t < 96 ? s[95 - t] : 0;
}

MAIN(load<<<1, 128>>>(zeros<float>(96), empty<float>(128)))
