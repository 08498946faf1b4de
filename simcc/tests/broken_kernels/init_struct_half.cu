// A struct of 16 bytes of which the second half never gets a value: that is no padding.
// EXPECT initcheck uninitialized error
#include "main.cuh"

struct pair {
	double mean, deviation;
};

__global__ void start(pair *pairs)
{
	pairs[threadIdx.x].mean = 1;
	IF_RIGHT(pairs[threadIdx.x].deviation = 2);
}

__global__ void copy(const pair *from, pair *to)
{
	to[threadIdx.x] = from[threadIdx.x]; // BUG
}

int main()
{
	pair *from = empty<pair>(64), *to = empty<pair>(64);
	start<<<1, 64>>>(from);
	copy<<<1, 64>>>(from, to);
	return end();
}
