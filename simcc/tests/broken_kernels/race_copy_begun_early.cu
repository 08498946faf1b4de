// The next stage is fetched while one is used, into the same buffer: the wait before was not for that copy.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"
#include <cuda_pipeline.h>

__global__ void sums(const float *x, float *y, int stages)
{
	enum { COUNT = WRONG(1, 2) };
	__shared__ float s[COUNT][64];
	float sum = 0;
	for (int stage = 0; stage <= stages; stage++) {
		__pipeline_wait_prior(0);
		__syncthreads();
		const float *from = &x[64 * stage + threadIdx.x];
		if (stage < stages)
			__pipeline_memcpy_async(&s[stage % COUNT][threadIdx.x], from, 4); // BUG
		__pipeline_commit();
		if (stage > 0)
			sum += s[(stage - 1) % COUNT][(threadIdx.x + 40) % 64]; // OTHER
		__syncthreads();
	}
	y[threadIdx.x] = sum;
}

MAIN(sums<<<1, 64>>>(zeros<float>(64 * 3), zeros<float>(64), 3))
