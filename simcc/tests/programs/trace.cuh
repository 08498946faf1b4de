// A function of another file than the kernel's: its lines are given with the file's name.
#ifndef TRACE_CUH
#define TRACE_CUH

__device__ inline float twice(const float *x)
{
	return 2 * *x; // @twice
}

#endif
