// Copies that nobody waits for, or not in time, and what is read or written meanwhile.
// EXPECT racecheck RAW|WAW error x7
#include "main.cuh"
#include <cuda_pipeline.h>

enum bug { NONE, NO_WAIT, IN_NO_GROUP, WAIT_BEHIND_BARRIER };

// The barrier is none for what is under way; and who waits behind it knows of his own copies alone.
template <bug B>
__global__ void turn(const float *x, float *y)
{
	__shared__ float s[64];
	unsigned at = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
	asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(&x[threadIdx.x]), "n"(4)); // OTHER
	if (B != IN_NO_GROUP)
		asm volatile("cp.async.commit_group;");
	if (B == NONE || B == IN_NO_GROUP)
		asm volatile("cp.async.wait_group 0;");
	__syncthreads();
	if (B == WAIT_BEHIND_BARRIER)
		__pipeline_wait_prior(0);
	y[threadIdx.x] = s[63 - threadIdx.x]; // BUG
}

// To one element of the four that are read at once.
__global__ void inside_float4(const float *x, float4 *y)
{
	__shared__ float4 s[64];
	float4 *mine = &s[threadIdx.x];
	*mine = make_float4(1, 2, 3, 4);
	__pipeline_memcpy_async(&mine->z, &x[threadIdx.x], 4); // OTHER
	__pipeline_commit();
	IF_RIGHT(__pipeline_wait_prior(0));
	y[threadIdx.x] = *mine; // BUG
}

// A thread's second copy, of 16 bytes, covers the first one, of 4: which comes last nobody knows.
__global__ void over_copy(const float *x, float *y)
{
	alignas(16) __shared__ float s[128];
	__pipeline_memcpy_async(&s[4 * threadIdx.x + 1], &x[threadIdx.x], 4); // OTHER
	__pipeline_commit();
	IF_RIGHT(__pipeline_wait_prior(0));
	__pipeline_memcpy_async(&s[4 * threadIdx.x], &x[4 * threadIdx.x], 16); // BUG
	__pipeline_commit();
	__pipeline_wait_prior(0);
	__syncthreads();
	y[threadIdx.x] = s[127 - threadIdx.x];
}

// The thread clears what its own copy is under way to.
__global__ void overwritten(const float *x, float *y, int count)
{
	__shared__ float s[64];
	if (threadIdx.x < count)
		__pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); // OTHER
	__pipeline_commit();
	if (WRONG(true, threadIdx.x >= count))
		s[threadIdx.x] = 0; // BUG
	__pipeline_wait_prior(0);
	y[threadIdx.x] = s[threadIdx.x];
}

// A thread reads what it copies itself, behind a wait that was too early.
__global__ void waited_early(const float *x, float *y)
{
	__shared__ float s[64];
	IF_WRONG(__pipeline_wait_prior(0));
	__pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); // OTHER
	__pipeline_commit();
	IF_RIGHT(__pipeline_wait_prior(0));
	y[threadIdx.x] = s[threadIdx.x]; // BUG
	__pipeline_wait_prior(0);
}

int main()
{
	float *x = zeros<float>(256), *y = zeros<float>(256);
	IF_WRONG(turn<NO_WAIT><<<2, 64>>>(x, y), turn<IN_NO_GROUP><<<2, 64>>>(x, y));
	turn<WRONG(WAIT_BEHIND_BARRIER, NONE)><<<2, 64>>>(x, y);
	inside_float4<<<2, 64>>>(x, (float4 *)y);
	over_copy<<<1, 32>>>(x, y);
	overwritten<<<1, 64>>>(x, y, 32);
	waited_early<<<1, 64>>>(x, y);
	return end();
}
