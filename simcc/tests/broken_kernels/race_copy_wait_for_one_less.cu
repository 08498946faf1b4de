// Two stages: while one is used the next one is under way. The last stage is waited for as if another followed.
// EXPECT racecheck RAW error
#include "main.cuh"

__device__ void copy_in(float *to, const float *from)
{
	unsigned at = (unsigned)__cvta_generic_to_shared(to);
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from)); // OTHER
	asm volatile("cp.async.commit_group;");
}

__global__ void sums(const float *x, float *y, int stages)
{
	__shared__ float s[2][64];
	float sum = 0;
	copy_in(&s[0][threadIdx.x], &x[threadIdx.x]);
	for (int stage = 0; stage < stages; stage++) {
		bool more = stage + 1 < stages;
		if (more)
			copy_in(&s[(stage + 1) % 2][threadIdx.x], &x[64 * (stage + 1) + threadIdx.x]);
#ifdef FIXED
		if (!more)
			asm volatile("cp.async.wait_group 0;");
		else
#endif
			asm volatile("cp.async.wait_group 1;");
		__syncthreads();
		sum += s[stage % 2][(threadIdx.x + 40) % 64]; // BUG
		__syncthreads();
	}
	y[threadIdx.x] = sum;
}

MAIN(sums<<<1, 64>>>(zeros<float>(64 * 3), zeros<float>(64), 3))
