// Threads that wait for threads which cannot come, or read from lanes which did not.
#include "broken.cuh"

// Those that skip the barrier leave the kernel, and so count as arrived.
//! case divergent_branch tool=synccheck kind=exited_threads severity=warning error=cudaSuccess
//+ thread=32,0,0 block=0,0,0
//! says Warning: Barrier error detected. Divergent thread(s) in warp
//! says 40 of 64 threads wait here; 24 have left the kernel [1 time]
//! says thread (40,0,0) has left the kernel: it counts as arrived
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

// The classic: a reduction by one lane. The others leave meanwhile.
//! case sum_by_one_lane tool=synccheck kind=exited_lane error=cudaSuccess thread=0,0,0 block=0,0,0
//! says Barrier error detected. Divergent thread(s) in warp
//! says __shfl_down_sync with mask 0xffffffff reads lane 16, which has left the kernel [5 times]
__global__ void sum_by_one_lane(float *y)
{
	float v = (float)threadIdx.x;
	if (threadIdx.x < WRONG(1, 32))
		for (int step = 16; step > 0; step /= 2)
			v += __shfl_down_sync(0xffffffff, v, step); // BUG sum_by_one_lane
	if (threadIdx.x == 0)
		y[0] = v;
}

// The full mask also names the upper half, which left at the top of the kernel.
//! case shuffle_from_left tool=synccheck kind=exited_lane error=cudaSuccess thread=0,0,0 block=0,0,0
//! says __shfl_sync with mask 0xffffffff reads lane 20, which has left the kernel [32 times]
__global__ void shuffle_from_left(int *y)
{
	if (threadIdx.x % 32 >= 16)
		return;
	unsigned mask = WRONG(0xffffffff, 0x0000ffff);
	y[threadIdx.x] = __shfl_sync(mask, (int)threadIdx.x, WRONG(20, 4)); // BUG shuffle_from_left
}

//! case shuffle_outside_mask tool=synccheck kind=outside_lane error=cudaSuccess thread=16,0,0 block=0,0,0
//! says __shfl_up_sync with mask 0xffff0000 reads lane 0, which the mask does not name
__global__ void shuffle_outside_mask(double *y)
{
	double v = threadIdx.x;
	if (threadIdx.x >= 16)
		v = __shfl_up_sync(0xffff0000, v, WRONG(16, 8)); // BUG shuffle_outside_mask
	y[threadIdx.x] = v;
}

//! case shuffle_past_the_block tool=synccheck kind=outside_lane error=cudaSuccess thread=0,0,0 block=0,0,0
//! says __shfl_sync with mask 0xffffffff reads lane 31, which the block does not have
__global__ void shuffle_past_the_block(long long *y)
{
	y[threadIdx.x] = __shfl_sync(0xffffffff, (long long)threadIdx.x, WRONG(31, 19)); // BUG shuffle_past_the_block
}

// One lane's shuffle meets the next one of the others, which is of another kind.
//! case two_kinds_of_shuffle tool=synccheck kind=missing_lane error=cudaErrorLaunchFailure thread=0,0,0 block=0,0,0
//! says Barrier error detected. Divergent thread(s) in warp
//! says __shfl_down_sync: the mask 0xffffffff names lanes that never arrive here
//! says thread (1,0,0) waits at __shfl_sync with mask 0xffffffff in
__global__ void two_kinds_of_shuffle(float *y)
{
	float v = (float)threadIdx.x;
	if (threadIdx.x < WRONG(1, 32))
		v += __shfl_down_sync(0xffffffff, v, 16); // BUG two_kinds_of_shuffle
	y[threadIdx.x] = __shfl_sync(0xffffffff, v, 0);   // BUG two_kinds_of_shuffle
}

CASES({"divergent_branch", [] { divergent_branch<<<1, 64>>>(device_zeros<float>(64)); }},
      {"both_arms", [] { both_arms<<<1, 64>>>(device_zeros<float>(64)); }},
      {"shuffle_without_caller", [] { shuffle_without_caller<<<1, 32>>>(device_zeros<float>(32)); }},
      {"sum_by_one_lane", [] { sum_by_one_lane<<<1, 32>>>(device_zeros<float>(1)); }},
      {"shuffle_from_left", [] { shuffle_from_left<<<1, 64>>>(device_zeros<int>(64)); }},
      {"shuffle_outside_mask", [] { shuffle_outside_mask<<<1, 32>>>(device_zeros<double>(32)); }},
      {"shuffle_past_the_block", [] { shuffle_past_the_block<<<1, 20>>>(device_zeros<long long>(20)); }},
      {"two_kinds_of_shuffle", [] { two_kinds_of_shuffle<<<1, 32>>>(device_zeros<float>(32)); }})
