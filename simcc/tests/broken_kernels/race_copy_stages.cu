// Stages are fetched while others are used.
// EXPECT racecheck RAW|WAR error x2
#include "main.cuh"
#include <cuda_pipeline.h>

// Into the buffer that is used: the wait before was not for that copy.
__global__ void begun_early(const float *x, float *y, int stages)
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

__device__ void copy_in(float *to, const float *from)
{
	unsigned at = (unsigned)__cvta_generic_to_shared(to);
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from)); // OTHER
	asm volatile("cp.async.commit_group;");
}

// The last stage is waited for as if another followed.
__global__ void waits_for_one_less(const float *x, float *y, int stages)
{
	__shared__ float s[2][64];
	float sum = 0;
	copy_in(&s[0][threadIdx.x], &x[threadIdx.x]);
	for (int stage = 0; stage < stages; stage++) {
		bool more = stage + 1 < stages;
		if (more)
			copy_in(&s[(stage + 1) % 2][threadIdx.x], &x[64 * (stage + 1) + threadIdx.x]);
		if (WRONG(true, more))
			asm volatile("cp.async.wait_group 1;");
		else
			asm volatile("cp.async.wait_group 0;");
		__syncthreads();
		sum += s[stage % 2][(threadIdx.x + 40) % 64]; // BUG
		__syncthreads();
	}
	y[threadIdx.x] = sum;
}

int main()
{
	float *x = zeros<float>(64 * 3), *y = zeros<float>(64);
	begun_early<<<1, 64>>>(x, y, 3);
	waits_for_one_less<<<1, 64>>>(x, y, 3);
	return end();
}
