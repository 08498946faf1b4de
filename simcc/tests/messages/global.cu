// Global memory: accesses that a GPU would refuse, or worse, would not.
#include "broken.cuh"

const int N = 100;

//! case wild_store tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=5,0,0 block=1,0,0
//! says Invalid __global__ write of size 4 bytes
//! says is out of bounds
__global__ void wild_store(float *y)
{
	if (blockIdx.x == 1 && threadIdx.x == 5)
		y[WRONG(1 << 28, 7)] = 1; // BUG wild_store
}

//! case off_by_one tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=4,0,0 block=3,0,0
//+ index=100
//! says Invalid __global__ write of size 4 bytes
//! says after the nearest allocation
//! says size 400 bytes
__global__ void off_by_one(float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < WRONG(N + 1, N))
		y[i] = 1; // BUG off_by_one
}

//! case before_start tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//+ index=-1
//! says Invalid __global__ read of size 4 bytes
//! says before the nearest allocation
__global__ void before_start(const float *x, float *y)
{
	int i = threadIdx.x;
	y[i] = x[WRONG(i - 1, i)]; // BUG before_start
}

__device__ float values[8];

// Not aligned, and past the end: a GPU looks at the first.
//! case misaligned_variable tool=memcheck kind=misaligned error=cudaErrorMisalignedAddress thread=0,0,0 block=0,0,0
//+ array=values
//! says Invalid __global__ write of size 16 bytes
//! says is misaligned
//! says 20 bytes into 'values'
__global__ void misaligned_variable(int at)
{
	*(float4 *)(values + at) = float4{1, 2, 3, 4}; // BUG misaligned_variable
}

//! case straddling tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says Invalid __global__ read of size 8 bytes
__global__ void straddling(const float *x, double *y)
{
	y[0] = *(const double *)(x + WRONG(2, 0)); // BUG straddling
}

//! case null tool=memcheck kind=null error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says Invalid __global__ write of size 4 bytes
__global__ void null(float *y)
{
	y[threadIdx.x] = 1; // BUG null
}

//! case freed tool=memcheck kind=use_after_free error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says Invalid __global__ read of size 4 bytes
//! says freed
__global__ void freed(const float *x, float *y)
{
	y[threadIdx.x] = x[threadIdx.x]; // BUG freed
}

//! case host_heap tool=memcheck kind=host_pointer error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says Invalid __global__ write of size 4 bytes
//! says it is a host pointer: device code needs memory from cudaMalloc (page-locked memory is not mapped here)
__global__ void host_heap(int *y)
{
	y[threadIdx.x] = 1; // BUG host_heap
}

__constant__ int limits[8];

//! case constant_write tool=memcheck kind=constant_write error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says Invalid __constant__ write of size 4 bytes
__global__ void constant_write(int *y)
{
	int *p = WRONG((int *)limits, y);
	p[threadIdx.x] = 1; // BUG constant_write
}

//! case atomic_overrun tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says Invalid __global__ atomic of size 4 bytes
__global__ void atomic_overrun(int *y, int n)
{
	atomicAdd(&y[n], 1); // BUG atomic_overrun
}

// The line is in a function that the kernel calls.
__device__ void store_at(float *y, int i)
{
	y[i] = 2; // BUG in_function
}

//! case in_function tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=any block=any
//! says Invalid __global__ write of size 4 bytes
__global__ void in_function(float *y)
{
	store_at(y, threadIdx.x + WRONG(N, 0));
}

template <typename T>
T *device_zeros_then_free(size_t count)
{
	T *p = device_zeros<T>(count);
#ifndef FIXED
	cudaFree(p);
#endif
	return p;
}

static void run_host_heap()
{
	int *here = new int[32], *there = device_zeros<int>(32);
	host_heap<<<1, 32>>>(WRONG(here, there));
	delete[] here;
}

CASES({"wild_store", [] { wild_store<<<2, 32>>>(device_zeros<float>(N)); }},
      {"off_by_one", [] { off_by_one<<<4, 32>>>(device_zeros<float>(N)); }},
      {"before_start", [] { before_start<<<1, 32>>>(device_zeros<float>(N), device_zeros<float>(N)); }},
      {"misaligned_variable", [] { misaligned_variable<<<1, 1>>>(WRONG(5, 4)); }},
      {"straddling", [] { straddling<<<1, 1>>>(device_zeros<float>(3), device_zeros<double>(1)); }},
      {"null", [] { null<<<1, 32>>>(WRONG((float *)NULL, device_zeros<float>(N))); }},
      {"freed", [] { freed<<<1, 32>>>(device_zeros_then_free<float>(N), device_zeros<float>(N)); }},
      {"host_heap", run_host_heap}, {"constant_write", [] { constant_write<<<1, 8>>>(device_zeros<int>(8)); }},
      {"atomic_overrun", [] { atomic_overrun<<<1, 1>>>(device_zeros<int>(8), WRONG(8, 7)); }},
      {"in_function", [] { in_function<<<1, 32>>>(device_zeros<float>(N)); }})
