// Kernels that never end, and kernels that end badly.
#include "broken.cuh"

#include <cassert>

//! case loop_without_access tool=synccheck kind=endless_loop error=cudaErrorLaunchTimeout thread=any block=any
//+ timeout
//! says no thread has ended or passed a barrier (SIM_TIMEOUT sets the
__global__ void loop_without_access(int *y)
{
	y[threadIdx.x] = 1;
	while (WRONG(true, false)) // BUG loop_without_access
		;                  // BUG loop_without_access
}

__device__ int collatz(unsigned n)
{
	int steps = 0;
	while (n != WRONG(0u, 1u)) {           // BUG loop_in_function
		n = n % 2 ? 3 * n + 1 : n / 2; // BUG loop_in_function
		steps++;                       // BUG loop_in_function
	}
	return steps;
}

//! case loop_in_function tool=synccheck kind=endless_loop error=cudaErrorLaunchTimeout thread=any block=any timeout
//! says No progress
__global__ void loop_in_function(int *y)
{
	y[threadIdx.x] = collatz(threadIdx.x + 1);
}

//! case others_wait tool=synccheck kind=endless_loop error=cudaErrorLaunchTimeout thread=33,0,0 block=0,0,0 timeout
//! says No progress
__global__ void others_wait(volatile int *y)
{
	if (threadIdx.x == 33)
		while (y[0] == WRONG(0, 1)) // BUG others_wait
			;
	__syncthreads();
}

// Nothing is read or written, and nobody waits for long.
//! case warps_in_step tool=synccheck kind=endless_loop error=cudaErrorLaunchTimeout thread=any block=any timeout
//! says No progress
__global__ void warps_in_step(int *y)
{
	int i = 0;
	while (__any_sync(0xffffffff, i >= 0) && WRONG(true, false)) // BUG warps_in_step
		__syncwarp();                                        // BUG warps_in_step
	y[threadIdx.x] = i;
}

//! case quotient_too_large tool=memcheck kind=division_by_zero error=cudaErrorLaunchFailure thread=5,0,0 block=0,0,0
//! says smallest integer by -1
__global__ void quotient_too_large(int *y)
{
	int smallest = -2147483647 - (threadIdx.x >= 5),
	    by = WRONG(-1, -2);         // by no constant: that would be a negation
	y[threadIdx.x] = smallest / by; // BUG quotient_too_large
}

//! case illegal_instruction tool=memcheck kind=trap error=cudaErrorIllegalInstruction thread=3,0,0 block=0,0,0
//! says Illegal instruction, or __trap()
__global__ void illegal_instruction(int *y)
{
	if (threadIdx.x == WRONG(3, 99))
		__builtin_trap(); // BUG illegal_instruction
	y[threadIdx.x] = 1;
}

//! case failing_assert tool=memcheck kind=assert error=cudaErrorAssert thread=7,0,0 block=0,0,0
//! says Assertion `(int)threadIdx.x < n` failed
//! says thread: [7,0,0]
__global__ void failing_assert(int *y, int n)
{
	assert((int)threadIdx.x < n); // BUG failing_assert
	y[threadIdx.x] = 1;
}

CASES({"loop_without_access", [] { loop_without_access<<<1, 32>>>(device_zeros<int>(32)); }},
      {"loop_in_function", [] { loop_in_function<<<1, 32>>>(device_zeros<int>(32)); }},
      {"others_wait", [] { others_wait<<<1, 64>>>(device_zeros<int>(1)); }},
      {"warps_in_step", [] { warps_in_step<<<1, 32>>>(device_zeros<int>(32)); }},
      {"quotient_too_large", [] { quotient_too_large<<<1, 32>>>(device_zeros<int>(32)); }},
      {"illegal_instruction", [] { illegal_instruction<<<1, 32>>>(device_zeros<int>(32)); }},
      {"failing_assert", [] { failing_assert<<<1, 8>>>(device_zeros<int>(8), WRONG(7, 8)); }})
