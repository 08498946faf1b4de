// The copies are in no group yet when their thread waits for all groups.
// EXPECT racecheck RAW error
#include "main.cuh"

__global__ void turn(const float *x, float *y)
{
	__shared__ float s[64];
	unsigned at = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
	asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(&x[threadIdx.x]), "n"(4)); // OTHER
	IF_RIGHT(asm volatile("cp.async.commit_group;"));
	asm volatile("cp.async.wait_group 0;");
	__syncthreads();
	y[threadIdx.x] = s[63 - threadIdx.x]; // BUG
}

MAIN(turn<<<2, 64>>>(zeros<float>(64), zeros<float>(64)))
