// A write to a string of the program: reading it is fine.
// EXPECT memcheck any error
#include "main.cuh"

__global__ void spell(char *y)
{
	char *text = (char *)"text";
#ifndef FIXED
	text[threadIdx.x] = 'T'; // BUG
#endif
	y[threadIdx.x] = text[threadIdx.x];
}

int main()
{
	char *y = empty<char>(4);
	spell<<<1, 4>>>(y);
	return end();
}
