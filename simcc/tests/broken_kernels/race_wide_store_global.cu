// Every block stores its own number in the second half of one vector.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void note(double2 *y)
{
	y[WRONG(0, blockIdx.x)] = make_double2(0, blockIdx.x); // BUG
}

MAIN(note<<<8, 1>>>(empty<double2>(8)))
