// The last stage is fetched, and nobody waits for it.
// EXPECT racecheck lost_copy warning
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void sums(const float *x, float *y, int stages)
{
	__shared__ float s[2][64];
	float sum = 0;
	__pipeline_memcpy_async(&s[0][threadIdx.x], &x[threadIdx.x], 4);
	__pipeline_commit();
	for (int stage = 0; stage < stages; stage++) {
		int next = stage + 1;
#ifdef FIXED
		if (next < stages)
#endif
			__pipeline_memcpy_async(&s[next % 2][threadIdx.x], &x[64 * next + threadIdx.x], 4); // BUG
		__pipeline_commit();
		__pipeline_wait_prior(1);
		sum += s[stage % 2][threadIdx.x];
	}
	y[threadIdx.x] = sum;
}

MAIN(sums<<<1, 64>>>(zeros<float>(64 * 4), zeros<float>(64), 3))
