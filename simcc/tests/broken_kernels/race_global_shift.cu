// Each lane moves its right neighbour's value in place, in global memory: reads first, but nothing says so.
// EXPECT racecheck WAR|RAW warning
#include "main.cuh"

template <class T>
__global__ void shift(T *x)
{
	int t = threadIdx.x;
	T next = t < 31 ? x[t + 1] : T(); // OTHER
	IF_RIGHT(__syncwarp());
	x[t] = next; // BUG
}

int main()
{
	float *x = zeros<float>(32);
	unsigned char *bytes = zeros<unsigned char>(32);
	shift<<<1, 32>>>(x);
	shift<<<1, 32>>>(bytes);
	return end();
}
