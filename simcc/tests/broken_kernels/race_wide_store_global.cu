// Every block stores its own number in the second half of one vector.
// EXPECT racecheck WAW error
#include "main.cuh"

__global__ void note(double2 *y)
{
#ifdef FIXED
	y[blockIdx.x] = make_double2(0, blockIdx.x);
#else
	y[0] = make_double2(0, blockIdx.x); // BUG
#endif
}

int main()
{
	double2 *y = empty<double2>(8);
	note<<<8, 1>>>(y);
	return end();
}
