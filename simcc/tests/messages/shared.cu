// Shared and local memory.
#include "broken.cuh"

//! case dynamic_overrun tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=31,0,0 block=0,0,0
//+ space=shared
//! says Invalid __shared__ write of size 4 bytes
//! says is out of bounds
__global__ void dynamic_overrun(float *y)
{
	extern __shared__ float sram[];
	sram[threadIdx.x] = 1; // BUG dynamic_overrun
	y[threadIdx.x] = sram[threadIdx.x];
}

//! case negative_index tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//+ space=shared array=tile
//! says Invalid __shared__ read of size 4 bytes
__global__ void negative_index(float *y)
{
	__shared__ float tile[32];
	int i = threadIdx.x;
	tile[i] = 1;
	__syncthreads();
	y[i] = tile[i - WRONG(1, 0)]; // BUG negative_index
}

// From one row into the next is inside the array: no tool sees it. Past the last row is outside.
//! case last_row tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=0,7,0 block=0,0,0
//+ space=shared array=tile index=72
//! says Invalid __shared__ write of size 4 bytes
__global__ void last_row(float *y)
{
	__shared__ float tile[8][9];
	tile[threadIdx.y][threadIdx.x + (threadIdx.y == 7 ? WRONG(9, 0) : 0)] = 1; // BUG last_row
	y[threadIdx.y * 8 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

//! case misaligned_shared tool=memcheck kind=misaligned error=cudaErrorMisalignedAddress thread=0,0,0 block=0,0,0
//+ space=shared
//! says Invalid __shared__ write of size 8 bytes
//! says is misaligned
__global__ void misaligned_shared(float *y, int n)
{
	__shared__ float tile[64];
	float *place = tile + n;
	*(double *)place = 1; // BUG misaligned_shared
	y[threadIdx.x] = 1;
}

// The first byte behind an array is no part of it, aligned or not.
//! case behind_ragged tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//+ space=shared array=bytes index=7
//! says and is 30 bytes after the start of 'bytes' of size 30 bytes
__global__ void behind_ragged(float *y)
{
	alignas(8) __shared__ char bytes[30];
	char *place = bytes + WRONG(30, 24);
	*(int *)place = 1; // BUG behind_ragged
	y[threadIdx.x] = 1;
}

//! case far_away tool=memcheck kind=out_of_bounds error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says of size 4 bytes
__global__ void far_away(float *y, int n)
{
	__shared__ float tile[32];
	tile[n] = 1; // BUG far_away
	y[0] = tile[n];
}

// The frame itself is too large: the line is the launch's or the kernel's.
//! case large_local tool=memcheck kind=stack_overflow error=cudaErrorIllegalAddress thread=any block=0,0,0 line=any
//! says Stack overflow
__global__ void large_local(int *y, int n)
{
	volatile int mine[WRONG(1 << 18, 1 << 10)];
	for (int i = 0; i < n; i++)
		mine[i] = i;
	y[threadIdx.x] = mine[n - 1];
}

// One ends within what is kept for the engine, the other one below the stack.
//! case array_too_large tool=memcheck kind=stack_overflow error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says local variables of array_too_large(int*, int) need 249 KB;
//! says a thread of the simulated device has
__global__ void array_too_large(int *y, int n) // BUG array_too_large
{
	volatile int mine[WRONG(63500, 20000)];
	for (int i = 0; i < n; i++)
		mine[i] = i;
	y[threadIdx.x] = mine[n - 1];
}

//! case array_alone tool=memcheck kind=stack_overflow error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says local variables of array_alone(int*, int) need 313 KB;
//! says a thread of the simulated device has
__global__ void array_alone(int *y, int n) // BUG array_alone
{
	volatile int mine[WRONG(80000, 20000)];
	for (int i = 0; i < n; i++)
		mine[i] = i;
	y[threadIdx.x] = mine[n - 1];
}

__device__ __noinline__ int with_array(int n, volatile int *y)
{
	volatile int mine[WRONG(15600, 2000)];
	mine[n] = y[0] = n;
	return n == 0 ? 0 : mine[n] + with_array(n - 1, y); // BUG arrays_together
}

//! case arrays_together tool=memcheck kind=stack_overflow error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! says : large local arrays, or an endless recursion?
__global__ void arrays_together(int *y)
{
	y[threadIdx.x] = with_array(5, y + 32);
}

__device__ void fill(long *row, int n)
{
	for (int i = 0; i < n; i++)
		row[i] = i; // BUG local_overrun
}

//! case local_overrun tool=memcheck kind=local_overrun error=cudaErrorIllegalAddress thread=0,0,0 block=0,0,0
//! space=local says Invalid __local__ write of size 8 bytes says a local array was overrun
__global__ void local_overrun(long *y, int n)
{
	long row[3];
	fill(row, n);
	y[threadIdx.x] = row[1];
}

CASES({"dynamic_overrun", [] { dynamic_overrun<<<1, 32, WRONG(31, 32) * sizeof(float)>>>(device_zeros<float>(32)); }},
      {"negative_index", [] { negative_index<<<1, 32>>>(device_zeros<float>(32)); }},
      {"last_row", [] { last_row<<<1, dim3(8, 8)>>>(device_zeros<float>(64)); }},
      {"misaligned_shared", [] { misaligned_shared<<<1, 1>>>(device_zeros<float>(1), WRONG(1, 2)); }},
      {"behind_ragged", [] { behind_ragged<<<1, 1>>>(device_zeros<float>(1)); }},
      {"far_away", [] { far_away<<<1, 1>>>(device_zeros<float>(1), WRONG(50000, 0)); }},
      {"local_overrun", [] { local_overrun<<<1, 8>>>(device_zeros<long>(8), WRONG(60, 3)); }},
      {"array_too_large", [] { array_too_large<<<1, 1>>>(device_zeros<int>(64), 1 << 10); }},
      {"array_alone", [] { array_alone<<<1, 1>>>(device_zeros<int>(64), 1 << 10); }},
      {"arrays_together", [] { arrays_together<<<1, 1>>>(device_zeros<int>(64)); }},
      {"large_local", [] { large_local<<<1, 64>>>(device_zeros<int>(64), 1 << 10); }})
