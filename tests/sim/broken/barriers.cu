// Threads that wait for threads which cannot come.
#include "broken.cuh"

//! case divergent_branch tool=synccheck kind=divergent_barrier|exited_threads error=cudaErrorLaunchFailure
//+ thread=any block=0,0,0
//! says Barrier error detected. Divergent thread(s) in
__global__ void divergent_branch(float *y)
{
	if (threadIdx.x < WRONG(40, 64))
		__syncthreads(); // BUG divergent_branch
	y[threadIdx.x] = 1;
}

//! case both_arms tool=synccheck kind=divergent_barrier error=cudaErrorLaunchFailure thread=any block=0,0,0
//! says Barrier error detected. Divergent thread(s) in
__global__ void both_arms(float *y)
{
#ifdef FIXED
	y[threadIdx.x] = threadIdx.x % 2;
	__syncthreads();
#else
	if (threadIdx.x % 2) {
		y[threadIdx.x] = 1;
		__syncthreads(); // BUG both_arms
	} else {
		y[threadIdx.x] = 0;
		__syncthreads(); // BUG both_arms
	}
#endif
}

//! case early_return tool=synccheck kind=exited_threads error=cudaErrorLaunchFailure thread=any block=any
//! says Barrier error detected. Divergent thread(s) in
//! says have left the kernel
__global__ void early_return(float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
	bool mine = i < n;
	__syncthreads();
	if (mine)
		y[i] = 1;
#else
	if (i >= n)
		return;
	__syncthreads(); // BUG early_return
	y[i] = 1;
#endif
}

//! case unequal_trips tool=synccheck kind=exited_threads|divergent_barrier error=cudaErrorLaunchFailure thread=any
//+ block=0,0,0
//! says Barrier error detected. Divergent thread(s) in
__global__ void unequal_trips(float *y)
{
	for (int k = 0; k < WRONG((int)threadIdx.x / 32 + 1, 2); k++) {
		y[threadIdx.x] = (float)k;
		__syncthreads(); // BUG unequal_trips
	}
}

__device__ void wait_here()
{
	__syncthreads(); // BUG barrier_in_function
}

// The same line, reached by two calls: two barriers.
//! case barrier_in_function tool=synccheck kind=divergent_barrier error=cudaErrorLaunchFailure thread=any
//+ block=0,0,0
//! says Barrier error detected. Divergent thread(s) in block
__global__ void barrier_in_function(float *y)
{
#ifdef FIXED
	wait_here();
#else
	if (threadIdx.x < 32)
		wait_here();
	else
		wait_here();
#endif
	y[threadIdx.x] = 1;
}

//! case mask_without_caller tool=synccheck kind=invalid_mask error=cudaErrorLaunchFailure thread=any block=0,0,0
//! says Barrier error detected. Invalid arguments
__global__ void mask_without_caller(float *y)
{
	__syncwarp(WRONG(0x0000ffff, 0xffffffff)); // BUG mask_without_caller
	y[threadIdx.x] = 1;
}

//! case shuffle_without_caller tool=synccheck kind=invalid_mask error=cudaErrorLaunchFailure thread=8,0,0
//+ block=0,0,0
//! says Barrier error detected. Invalid arguments
__global__ void shuffle_without_caller(float *y)
{
	float v = (float)threadIdx.x;
	if (threadIdx.x <= 8)
		v = __shfl_xor_sync(WRONG(0xff, 0x1ff), v, 1); // BUG shuffle_without_caller
	y[threadIdx.x] = v;
}

//! case lane_never_arrives tool=synccheck kind=missing_lane error=cudaErrorLaunchFailure thread=any block=0,0,0
//! says Barrier error detected. Divergent thread(s) in warp
__global__ void lane_never_arrives(float *y)
{
	float v = (float)threadIdx.x;
	if (threadIdx.x < 16)
		v += __shfl_down_sync(WRONG(0xffffffff, 0x0000ffff), v, 1); // BUG lane_never_arrives
	__syncthreads();
	y[threadIdx.x] = v;
}

//! case different_masks tool=synccheck kind=missing_lane error=cudaErrorLaunchFailure thread=any block=0,0,0
//! says Barrier error detected. Divergent thread(s) in warp
__global__ void different_masks(unsigned *y)
{
	unsigned mask = threadIdx.x % 2 ? 0xffffffff
	                                : WRONG(0xfffffffe | 1u << threadIdx.x, 0xffffffff) & WRONG(0x7fffffff, ~0u);
	y[threadIdx.x] = __ballot_sync(mask, 1); // BUG different_masks
}

//! case bad_width tool=synccheck kind=invalid_mask error=cudaErrorLaunchFailure thread=any block=0,0,0
//! says Barrier error detected. Invalid arguments
__global__ void bad_width(float *y)
{
	y[threadIdx.x] = __shfl_sync(0xffffffff, 1.0f, 0, WRONG(12, 16)); // BUG bad_width
}

CASES({"divergent_branch", [] { divergent_branch<<<1, 64>>>(device_zeros<float>(64)); }},
      {"both_arms", [] { both_arms<<<1, 64>>>(device_zeros<float>(64)); }},
      {"early_return", [] { early_return<<<4, 64>>>(device_zeros<float>(200), 200); }},
      {"unequal_trips", [] { unequal_trips<<<1, 64>>>(device_zeros<float>(64)); }},
      {"barrier_in_function", [] { barrier_in_function<<<1, 64>>>(device_zeros<float>(64)); }},
      {"mask_without_caller", [] { mask_without_caller<<<1, 32>>>(device_zeros<float>(32)); }},
      {"shuffle_without_caller", [] { shuffle_without_caller<<<1, 32>>>(device_zeros<float>(32)); }},
      {"lane_never_arrives", [] { lane_never_arrives<<<1, 32>>>(device_zeros<float>(32)); }},
      {"different_masks", [] { different_masks<<<1, 32>>>(device_zeros<unsigned>(32)); }},
      {"bad_width", [] { bad_width<<<1, 32>>>(device_zeros<float>(32)); }})
