// A write to a string of the program: reading it is fine.
// EXPECT memcheck any error
#include "main.cuh"

__global__ void spell(char *y)
{
	char *text = (char *)"text";
	IF_WRONG(text[threadIdx.x] = 'T'); // BUG
	y[threadIdx.x] = text[threadIdx.x];
}

MAIN(spell<<<1, 4>>>(empty<char>(4)))
